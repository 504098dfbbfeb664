"""Statistics of arrays under their public path: the same module object as `deadheat.core.stats`."""

import sys

from deadheat.core import stats

sys.modules[__name__] = stats
