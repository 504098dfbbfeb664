from deadheat.plugins.figures.figures import *  # noqa: F403 - every figure is public
from deadheat.plugins.figures.figures import __all__ as __all__
