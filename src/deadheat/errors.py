"""Every exception and warning under its public path: the same module object as `deadheat.core.errors`."""

import sys

from deadheat.core import errors

sys.modules[__name__] = errors
