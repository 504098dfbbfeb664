"""The figures of the plugin ``figures`` under their public path: the same module object."""

import sys

from deadheat.core import hooks

sys.modules[__name__] = hooks.service("figures")
