"""The options of bounds over unjudged documents, --unjudged and --unjudged-max-rel."""

from deadheat.cli.options import options_of
from deadheat.settings import Conventions

OPTIONS = options_of(Conventions, "measures", group="bounds")
