"""The module `ir_measures_provider` of the plugin ``compat`` under its public path: the same module object."""

import sys

from deadheat.core import hooks

sys.modules[__name__] = hooks.service("ir_measures_provider")
