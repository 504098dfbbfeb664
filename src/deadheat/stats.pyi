from deadheat.core.stats import *  # noqa: F403 - every name is public
from deadheat.core.stats import __all__ as __all__
