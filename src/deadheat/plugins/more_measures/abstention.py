"""How often a system abstains, and is right to: Abstain."""

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.errors import MeasureError
from deadheat.core.measures.parameters import Choice, Number, parameter
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import REL, Count
from deadheat.core.placements.placements import Placements


@register(
    "abstention",
    "Abstain = share of queries with no score above the threshold; of: rate, precision or recall",
    range=(0.0, 1.0),
    total=False,
    at="threshold",
)
class Abstain(Count):
    r"""How often a system abstains: it retrieves nothing, or nothing with a score above a threshold.

    .. math:: \text{rate} = |A| / |Q|, \quad \text{precision} = |A \cap U| / |A|, \quad
        \text{recall} = |A \cap U| / |U|

    with the queries Q, those U without an answer, and those A of which the system abstains. A query has no answer if
    the qrels have no document of relevance `rel` or more for it, as with an empty list, or false in a column
    ``answerable``. Other measures count a query with an empty list as 0, whatever was retrieved, and leave out one that
    is not answerable; ``no_relevant`` says otherwise. Precision is over A, so other queries have no value and are left
    out, and recall over U. A score that equals the threshold is not above it: queries whose best scores tie abstain
    together, and no order of ties changes the value. ``@`` sets the threshold. With ``ascending=True`` scores are minus
    the distances, and so is the threshold.

    References
    ----------
    Rajpurkar, Jia and Liang 2018, https://doi.org/10.18653/v1/P18-2124, of questions without an answer;
    El-Yaniv and Wiener 2010, https://www.jmlr.org/papers/v11/el-yaniv10a.html, of thresholds.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> qrels, run = {"q1": {"a": 1}, "q2": {}}, {"q1": {"a": 0.9}, "q2": {"b": 0.3}}
    >>> evaluate(qrels, run, ["Abstain", "Abstain@0.3", "Abstain(of='recall')@0.3"]).means()
    {'Abstain': 0.0, 'Abstain@0.3': 0.5, "Abstain(of='recall')@0.3": 1.0}
    """

    of: str = parameter(
        "rate", Choice(("rate", "precision", "recall")), "of all, of abstentions, or of what has no answer"
    )
    threshold: float | None = parameter(
        None, Number(optional=True), "a score above it is an answer; None: any score is"
    )
    rel: float = parameter(1, Number(), REL)

    @property
    def is_zero_or_one(self) -> bool:
        """Whether the value is 0 or 1: it is."""
        return True

    @property
    def is_quality(self) -> bool:  # type: ignore[override]  # of most measures it is the class that says it
        """Whether a system that abstains more is better or worse: the rate alone does not say."""
        return self.of != "rate"

    def mean(self, placements: Placements) -> FloatArray:
        """Return 1 for each query of which the system abstains, or is right to; NaN where it is not asked."""
        abstains = placements.lacking
        if self.threshold is not None:
            if placements.top_score is None:
                raise MeasureError(
                    "a threshold needs the best score of each query",
                    measure="Abstain",
                    given=self.threshold,
                    hint="call evaluate with a run of scores; matrices and ranks by several keys keep none",
                )
            abstains = abstains | (placements.top_score <= self.threshold)
        has_none = placements.n_relevant(self.rel) == 0
        if self.of == "rate":
            return abstains.astype(np.float64)
        return np.where(abstains if self.of == "precision" else has_none, abstains & has_none, np.nan)

    def reachable(self, placements: Placements) -> FloatArray:
        """Return 1: every system can abstain."""
        return np.where(np.isnan(self.mean(placements)), np.nan, 1.0)
