"""deadheat: evaluate rankings, exactly where scores tie."""

from deadheat.data import Qrels, Run, read_qrels, read_run
from deadheat.errors import DeadheatError
from deadheat.evaluation import Evaluation, Scores, evaluate
from deadheat.measures import *  # noqa: F403 - the measures are public names
from deadheat.placing import place
