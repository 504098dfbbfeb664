"""The options of bounds over unjudged documents, --unjudged and --unjudged-max-rel."""

from deadheat.core.cli.options import options_of
from deadheat.core.settings import Conventions

OPTIONS = options_of(Conventions, "measures", group="bounds")
