"""How many values the order of ties could change, counted while other tools compute them by their own rules."""

import atexit
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from deadheat.compat.evaluating import VARIABLE, Evaluator, Nested
from deadheat.errors import DeadheatError
from deadheat.wording import counted


class Tally:
    """Counts values since the switch, and says in one line how many of them ties could change.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.n_values, tally.n_open, tally.n_unknown = 40, 12, 0
    >>> tally.sentence()
    'ties could change 12 of 40 values; DEADHEAT_TIES=expected shows the exact means over their orders'
    """

    def __init__(self) -> None:
        self._is_on = False
        self.n_values = self.n_open = self.n_unknown = 0

    def start(self) -> None:
        """Count from now on, and say it at the end of the program; in a notebook, after each cell."""
        if self._is_on:
            return
        self._is_on = True
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        if shell is None:
            atexit.register(self.say)
        else:
            shell.events.register("post_run_cell", lambda _result: self.say())

    def add(self, evaluate: Callable[[], tuple[Iterable[Evaluator[Any]], Nested]]) -> None:
        """Count the values of a run, if the tally was started.

        Parameters
        ----------
        evaluate : callable
            Returns what evaluates, and the run.
        """
        if not self._is_on:
            return
        try:
            with warnings.catch_warnings(action="ignore"):  # the program did not ask deadheat to look at its data
                evaluators, run = evaluate()
                counts = [evaluator.count(run) for evaluator in evaluators]
        except DeadheatError:  # data that the tool takes and deadheat refuses
            self.n_unknown += 1
        else:
            self.n_values += sum(n_values for n_values, _ in counts)
            self.n_open += sum(n_open for _, n_open in counts)

    def say(self) -> None:
        """Write the line on standard error, if there is something to say, and count from 0 again."""
        if self.n_values or self.n_unknown:
            sys.stderr.write(f"deadheat: {self.sentence()}\n")
        self.n_values = self.n_open = self.n_unknown = 0

    def sentence(self) -> str:
        """Say how many values ties could change, and what shows it."""
        how = f"; {VARIABLE}=expected shows the exact means over their orders" if self.n_open else ""
        doubt = f"; of {counted(self.n_unknown, 'evaluation')} it is unknown" if self.n_unknown else ""
        return f"ties could change {self.n_open:,} of {counted(self.n_values, 'value')}{how}{doubt}"


TALLY = Tally()
