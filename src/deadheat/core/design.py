"""How systems are compared: tests, corrections, and the flips that they draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from deadheat.core.checks import as_list
from deadheat.core.errors import ParameterError
from deadheat.core.settings import BOUNDED, PROPORTION, Estimation, setting

TUKEY = "tukey"  # of several systems
RANDOMIZATION = "randomization"
CLUSTERED = (RANDOMIZATION, "bootstrap-t", "bootstrap", "t")  # the tests that take clusters
OF_NO_MEAN = ("wilcoxon", "sign")  # tests that may contradict the means
TESTS = (*CLUSTERED, *OF_NO_MEAN)
CORRECTIONS = ("none", "bonferroni", "holm", "bh")
MAX_T = "max-t"  # by the largest of all statistics in each resample
RESAMPLED = ("randomization", "bootstrap-t", "bootstrap", "tukey")  # tests that draw resamples
OF_MAXIMA = (MAX_T, "max-t-step-down")
MOST_FLIPS = 1_000_000  # drawn where fewer leave it open whether a difference is significant
MOST_COMPARED = 4_000_000_000  # flips times differences that are drawn for it: some five seconds on two cores
# what takes as long as to compare one flipped difference: so much of a sign to draw, of a difference in step-down
COST_OF_SIGN, COST_OF_STEP_DOWN = 10, 10
ALTERNATIVES = ("two-sided", "greater", "less")


@dataclass(frozen=True, kw_only=True)
class Design(Estimation):
    """How systems are compared, as :func:`compare` takes it.

    Attributes
    ----------
    baseline : str or None
        None: every pair of systems, or each against `baselines`.
    baselines : tuple of str
        Several, if a sequence of them was given as `baseline`.
    test, correction, alternative : str
    method, confidence_level, n_resamples, rng
        Of the intervals and tests; the method "auto" is "t" for differences.
    is_default_correction : bool
        Whether nobody named the correction, so that another may take its place.
    is_fixed : bool
        Whether somebody named `n_resamples`, so that no more are drawn.
    n_strata : int
        For so many strata, each with all rows, p values are corrected.
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
    correction: str = setting(  # None becomes the default of the test
        None,
        (*OF_MAXIMA, *CORRECTIONS),
        "Correction of p values for the number of rows of a measure: max-t (default, for the test randomization) or"
        " max-t-step-down, from sign flips that all rows share; holm (default elsewhere), bonferroni, bh or none.",
        metavar="CORRECTION",
    )
    alternative: str = setting("two-sided", ALTERNATIVES, "Of the difference, system - baseline.")

    def __post_init__(self) -> None:
        """Check each setting, and that methods and tests fit differences."""
        super().__post_init__()
        given: object = self.baseline
        if not isinstance(given, str | None):
            names = tuple(dict.fromkeys(map(str, as_list("baseline", given, "a system, several or None"))))
            if not names:
                raise ParameterError(argument="baseline", given=given, allowed="a system, several or None")
            object.__setattr__(self, "baseline", names[0] if len(names) == 1 else None)
            object.__setattr__(self, "baselines", names if len(names) > 1 else ())
        if self.method in {BOUNDED, PROPORTION}:
            of = "are 0 or 1" if self.method == PROPORTION else "have a lowest and a highest value"
            raise ParameterError(
                f"method={self.method!r} is of means",
                found="a comparison, which has differences",
                hint=f"'auto' takes it for the means of measures that {of}; 'bca', 'bootstrap-t', 'percentile', 't'"
                " and 'skewed-t' are for both",
            )
        given_correction: str | None = self.correction
        if given_correction is None:
            object.__setattr__(self, "is_default_correction", True)
        is_open = self.is_default_correction and self.test != RANDOMIZATION
        if given_correction is None or is_open:
            object.__setattr__(self, "correction", "holm" if is_open else MAX_T)
        if self.correction in OF_MAXIMA and self.test != RANDOMIZATION:
            raise ParameterError(
                argument="correction", given=self.correction, allowed=CORRECTIONS, beside={"test": self.test}
            )
        if self.test == TUKEY and self.alternative != "two-sided":
            raise ParameterError(
                argument="alternative", given=self.alternative, allowed="'two-sided'", beside={"test": TUKEY}
            )

    @property
    def difference_method(self) -> str:
        """The method of the intervals of differences, whose limits are too far apart to be of use."""
        return "t" if self.method == "auto" else self.method

    def most_flips(self, n_rows: int, n_signs: int) -> int:
        """Return how many sign flips may be drawn where fewer leave it open which differences are significant.

        Parameters
        ----------
        n_rows : int
            Differences, of all measures.
        n_signs : int
            Signs of each flip: queries or clusters, times measures.
        """
        if self.is_fixed or self.n_resamples != Design.n_resamples:
            return self.n_resamples
        cost_of_row = 1 if self.correction in {MAX_T, *CORRECTIONS} else COST_OF_STEP_DOWN
        cost_of_flip = (n_rows * cost_of_row + n_signs * COST_OF_SIGN) * self.n_strata
        return max(self.n_resamples, min(MOST_FLIPS, MOST_COMPARED // max(cost_of_flip, 1)))

    def without_maxima(self, beside: Mapping[str, object]) -> Design:
        """Return a design for p values that no sign flips alone give; raise if somebody named a correction by flips.

        Parameters
        ----------
        beside : mapping of str to object
            The argument that makes it so, for the message.
        """
        if self.correction not in OF_MAXIMA:
            return self
        if not self.is_default_correction:
            raise ParameterError(argument="correction", given=self.correction, allowed=CORRECTIONS, beside=beside)
        return replace(self, correction="holm")

    @property
    def against(self) -> tuple[str, ...]:
        """What systems are compared with; empty for every pair."""
        return self.baselines if self.baseline is None else (self.baseline,)

    def check_systems(self, names: Sequence[str], *, has_clusters: bool, has_weights: bool = False) -> None:
        """Raise `ParameterError` if systems of these names, with clusters or weights or not, cannot be compared so."""
        if len(names) < 2:
            raise ParameterError("a comparison needs two runs or more", given=len(names))
        if unknown := [one for one in self.against if one not in names]:
            raise ParameterError(argument="baseline", given=unknown[0], allowed=names)
        for name, is_given in (("cluster", has_clusters), ("weights", has_weights)):
            if is_given and self.test not in {*CLUSTERED, TUKEY}:
                raise ParameterError(argument="test", given=self.test, allowed=(*CLUSTERED, TUKEY), beside={name: None})
