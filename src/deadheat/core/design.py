"""How systems are compared: the test, its correction, and how many sign flips it may draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from deadheat.core.checks import as_list
from deadheat.core.errors import ParameterError
from deadheat.core.settings import BOUNDED, OF_ANY_MEANS, PROPORTION, Estimation, setting

RANDOMIZATION = "randomization"
TUKEY = "tukey"  # compares several systems at once
CLUSTERED = (RANDOMIZATION, "bootstrap-t", "bootstrap", "t")  # tests that take clusters and weights
RANK_TESTS = ("wilcoxon", "sign")  # do not test the mean, and may contradict it
TESTS = (*CLUSTERED, *RANK_TESTS)
RESAMPLING_TESTS = (RANDOMIZATION, "bootstrap-t", "bootstrap", TUKEY)
MAX_T = "max-t"  # corrects by the largest of all statistics in each resample
MAX_T_CORRECTIONS = (MAX_T, "max-t-step-down")
CORRECTIONS = ("none", "bonferroni", "holm", "bh")  # of any p-values
ALTERNATIVES = ("two-sided", "greater", "less")
MAX_FLIPS = 1_000_000  # drawn where fewer leave it open whether a difference is significant
MAX_COMPARED = 4_000_000_000  # flips times differences: some five seconds on two cores
# costs, in units of the time that comparing a difference under one flip takes
COST_OF_SIGN = 10  # to draw it
COST_OF_STEP_DOWN = 10  # to compare a difference in step-down


@dataclass(frozen=True, kw_only=True)
class Design(Estimation):
    """How systems are compared, as :func:`compare` takes it.

    Attributes
    ----------
    baseline : str or None
        None compares every pair of systems, or each system with each of `baselines`.
    baselines : tuple of str
        The baselines, if several were given as `baseline`.
    test, correction, alternative : str
    method, confidence_level, n_resamples, rng
        Settings of the intervals and tests; the method "auto" is "t" for differences.
    is_default_correction : bool
        Whether the user named no correction, so that the test decides it.
    is_fixed : bool
        Whether the user named `n_resamples`, so that no more are drawn.
    n_strata : int
        P values are corrected for this number of strata, each with all rows.
    """

    baseline: str | None = None
    baselines: tuple[str, ...] = ()
    is_default_correction: bool = False
    is_fixed: bool = False
    n_strata: int = 1
    test: str = setting(
        RANDOMIZATION,
        (*TESTS, TUKEY),
        "randomization, bootstrap-t, bootstrap, t, wilcoxon, sign or tukey.",
        metavar="TEST",
        rank=140,
    )
    correction: str = setting(  # None is replaced by the default of the test
        None,
        (*MAX_T_CORRECTIONS, *CORRECTIONS),
        "Correction of p values for the number of rows of a measure: max-t (default, for the test randomization) or"
        " max-t-step-down, from sign flips that all rows share; holm (default elsewhere), bonferroni, bh or none.",
        metavar="CORRECTION",
    )
    alternative: str = setting("two-sided", ALTERNATIVES, "Of the difference, system - baseline.")

    def __post_init__(self) -> None:
        """Check each setting and that they go together; choose the correction if none was given."""
        super().__post_init__()
        self._set_baselines()
        self._check_method()
        self._set_correction()
        if self.correction in MAX_T_CORRECTIONS and self.test != RANDOMIZATION:
            raise ParameterError(
                argument="correction", given=self.correction, allowed=CORRECTIONS, beside={"test": self.test}
            )
        if self.test == TUKEY and self.alternative != "two-sided":
            raise ParameterError(
                argument="alternative", given=self.alternative, allowed="'two-sided'", beside={"test": TUKEY}
            )

    def _set_baselines(self) -> None:
        """Turn a sequence given as the baseline into one baseline, or into several."""
        given: object = self.baseline
        if isinstance(given, str | None):
            return
        listed = as_list("baseline", given, "a system, several or None")
        names = tuple(dict.fromkeys(map(str, listed)))
        if not names:
            raise ParameterError(argument="baseline", given=given, allowed="a system, several or None")
        is_single = len(names) == 1
        object.__setattr__(self, "baseline", names[0] if is_single else None)
        object.__setattr__(self, "baselines", () if is_single else names)

    def _check_method(self) -> None:
        """Raise `ParameterError` if the intervals are of means, and not of differences."""
        if self.method not in {BOUNDED, PROPORTION}:
            return
        values = "are 0 or 1" if self.method == PROPORTION else "have a lowest and a highest value"
        raise ParameterError(
            argument="method",
            given=self.method,
            allowed=("auto", *OF_ANY_MEANS),
            hint=f"{self.method!r} is of means, and a comparison has differences; 'auto' takes it for the means of"
            f" measures that {values}",
        )

    def _set_correction(self) -> None:
        """Set the default correction of the test, where none was given."""
        given: str | None = self.correction
        if given is None:
            object.__setattr__(self, "is_default_correction", True)
        if self.is_default_correction and self.test != RANDOMIZATION:
            object.__setattr__(self, "correction", "holm")
        elif given is None:
            object.__setattr__(self, "correction", MAX_T)

    @property
    def difference_method(self) -> str:
        """The method of the intervals of differences; "auto" is "t", as their limits are too far apart to help."""
        if self.method == "auto":
            return "t"
        return self.method

    def most_flips(self, n_rows: int, n_signs: int) -> int:
        """Return how many sign flips may be drawn where fewer leave it open which differences are significant.

        Parameters
        ----------
        n_rows : int
            Number of differences, of all measures.
        n_signs : int
            Signs of each flip: queries or clusters, times measures.
        """
        is_named = self.is_fixed or self.n_resamples != Design.n_resamples
        if is_named:
            return self.n_resamples
        is_step_down = self.correction not in {MAX_T, *CORRECTIONS}
        cost_of_row = COST_OF_STEP_DOWN if is_step_down else 1
        cost_of_flip = (n_rows * cost_of_row + n_signs * COST_OF_SIGN) * self.n_strata
        n_affordable = MAX_COMPARED // max(cost_of_flip, 1)
        return max(self.n_resamples, min(MAX_FLIPS, n_affordable))

    def without_maxima(self, beside: Mapping[str, object]) -> Design:
        """Return a design whose correction needs no sign flips, for p values that are not from flips alone.

        Parameters
        ----------
        beside : mapping of str to object
            The argument because of which they are not, for the message.

        Raises
        ------
        ParameterError
            The user named a correction by flips.
        """
        if self.correction not in MAX_T_CORRECTIONS:
            return self
        if not self.is_default_correction:
            raise ParameterError(argument="correction", given=self.correction, allowed=CORRECTIONS, beside=beside)
        return replace(self, correction="holm")

    @property
    def against(self) -> tuple[str, ...]:
        """The baselines, one or several; empty where every pair is compared."""
        if self.baseline is None:
            return self.baselines
        return (self.baseline,)

    def check_systems(self, names: Sequence[str], *, has_clusters: bool, has_weights: bool = False) -> None:
        """Raise `ParameterError` if these systems, with clusters and weights or not, cannot be compared in this way."""
        if len(names) < 2:
            raise ParameterError("a comparison needs two runs or more", given=len(names))
        for baseline in self.against:
            if baseline not in names:
                raise ParameterError(argument="baseline", given=baseline, allowed=names)
        allowed = (*CLUSTERED, TUKEY)
        if self.test in allowed:
            return
        for name, is_given in (("cluster", has_clusters), ("weights", has_weights)):
            if is_given:
                raise ParameterError(argument="test", given=self.test, allowed=allowed, beside={name: None})
