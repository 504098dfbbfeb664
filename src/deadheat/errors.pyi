from deadheat.core.errors import *  # noqa: F403 - every name is public
