"""The evaluators of the plugin ``sentence_transformers`` under their public path: the same module object."""

import sys

from deadheat.core import hooks

sys.modules[__name__] = hooks.service("sentence_transformers")
