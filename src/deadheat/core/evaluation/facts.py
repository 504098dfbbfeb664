"""What a run lacks, as far as an evaluation can see: queries, judgments, and documents below a cut."""

from dataclasses import dataclass

from deadheat.core.measures import Judged
from deadheat.core.placements.placements import Placements

TOP = 10  # ranks whose documents should be judged
JUDGED = Judged(cutoff=TOP)
NOTABLE = 0.1  # share of unjudged documents in them that is worth saying


@dataclass(frozen=True)
class Facts:
    """What to know about a run besides its scores.

    Attributes
    ----------
    n_queries : int
        Queries that were evaluated.
    n_missing : int
        Queries of the qrels that the run lacks.
    unjudged_share : float or None
        Share of unjudged documents in the top 10, expected over tie orders, averaged over the queries that the run has;
        None if unknown.
    n_cut : int or None
        Of `n_open`, the queries in which the run may have been cut: no query has more documents. 0 if only one query
        has that many; None if unknown.
    depth : int
        The largest number of documents of a query; 0 if unknown.
    n_open : int or None
        Queries whose list ends in a tie that may reach up to ranks that the measures look at: it lacks documents if the
        list was cut there.
    own_queries : tuple of str
        Queries that retrieve a document with their id, which may be the query itself.
    """

    n_queries: int
    n_missing: int
    unjudged_share: float | None = None
    n_cut: int | None = None
    depth: int = 0
    n_open: int | None = None
    own_queries: tuple[str, ...] = ()

    def __str__(self) -> str:
        noted = {
            "missing": self.n_missing,
            f"unjudged@{TOP}": self.unjudged_share and f"{self.unjudged_share:.0%}",
            "ends in ties": self.n_cut and self.n_open,  # told only where a list may have been cut
            "retrieving themselves": len(self.own_queries),
        }
        return ", ".join([f"n_queries={self.n_queries}", *(f"{name}={one}" for name, one in noted.items() if one)])


def facts_of(placements: Placements, n_missing: int, depth: int | None = None, deepest: int | None = None) -> Facts:
    """Return the facts about a run from its placements.

    Parameters
    ----------
    placements : Placements
        From before a tie policy.
    n_missing : int
        Queries that the run lacks, including those that were left out.
    depth : int, optional
        At which lists were cut; a tie that it cuts may still be whole.
    deepest : int, optional
        The last rank that counts; None: all do.
    """
    longest = int(placements.n_retrieved.max(initial=0))
    n_open = n_cut = None
    if placements.ends_in_tie is not None:
        is_open = placements.ends_in_tie.copy()
        if deepest is not None:  # the last tie begins no higher than the last judged document
            is_open[placements.query[placements.above >= deepest]] = False
        is_full = (placements.n_retrieved == longest) & (longest > 0)
        n_open, n_cut = int(is_open.sum()), int((is_open & is_full).sum()) if is_full.sum() > 1 else 0
    is_own = placements.retrieves_itself
    own_queries = () if is_own is None else tuple(placements.query_ids[is_own].tolist())
    share = unjudged_share(placements, depth)
    return Facts(placements.n_queries, n_missing, share, n_cut, longest, n_open, own_queries)


def unjudged_share(placements: Placements, depth: int | None = None) -> float | None:
    """Return the share of unjudged documents in the top 10, or less deep, expected over tie orders; None if unknown."""
    judged = (JUDGED if depth is None else Judged(cutoff=min(TOP, depth))).mean(placements)[placements.n_retrieved > 0]
    # a sum of probabilities may differ from 1 by rounding
    return max(0.0, round(1 - float(judged.mean()), 12)) if len(judged) else None
