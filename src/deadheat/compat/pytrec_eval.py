"""The module `pytrec_eval` of the plugin ``compat`` under its public path: the same module object."""

import sys

from deadheat.core import hooks

sys.modules[__name__] = hooks.service("pytrec_eval")
