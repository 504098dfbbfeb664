"""The verdict of languages: in which one each system is best, and in which it is worse by more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deadheat.comparison.languages import Across, Languages
from deadheat.comparison.pairs import Pair, least_p
from deadheat.comparison.verdict import QUERY, doubt, favoured, number, probability, signed
from deadheat.evaluation.intervals import FEWEST
from deadheat.measures import Measure
from deadheat.stats.units import NEGLIGIBLE_DIFFERENCE
from deadheat.wording import counted

SPOKEN = 3  # systems that are said one by one


def judge_languages(
    found: Languages, *, unit: tuple[str, str] = QUERY, margin: float | None = None, name: str = ""
) -> tuple[str, ...]:
    """Return a sentence for each system, by the first measure that has means; none where no query is in all languages.

    Parameters
    ----------
    found : Languages
    unit : tuple of str
        What a query is called, in the singular and the plural.
    margin : float, optional
        Then languages that are shown to be equivalent up to it are named.
    name : str, default ""
        Whose languages they are, if there are others.
    """
    having = {one.measure for one in found.across if one.n_queries}
    measure = next((one for one in found.measures if one.is_quality and one.label in having), None)
    if measure is None:
        return ()
    rows = [one for one in found.across if one.measure == measure.label and one.n_queries]
    equivalent = [False] * len(found.differences) if margin is None else [own for _, own in found.equivalence(margin)]
    said = []
    for row in rows[:SPOKEN]:
        pairs = [
            (one.pair, shown)
            for one, shown in zip(found.differences, equivalent, strict=True)
            if (one.system, one.pair.measure) == (row.system, measure.label)
        ]
        said.append(_OfSystem(found, measure, row, pairs, unit, margin).sentence())
    of = f" of {name}" if name else ""
    shared = counted(rows[0].n_queries, *unit)
    begin = f"Between languages{of}, by {measure.label}"
    if rows[0].n_units < FEWEST:
        return (f"{begin}: {shared} in each of {', '.join(found.languages)} prove nothing.",)
    is_whole = {one.pair.n_queries for one in found.differences} == {rows[0].n_queries}
    begin += f" over the same {shared}: " if is_whole else f" ({shared} in all languages, more in some pairs): "
    more = (f"The tables have {counted(len(rows) - SPOKEN, 'more system')}.",) if len(rows) > SPOKEN else ()
    return (begin + said[0], *(f"By {measure.label}, {one}" for one in said[1:]), *more)


@dataclass(frozen=True)
class _OfSystem:
    """The verdict of one system."""

    languages: Languages
    measure: Measure
    row: Across
    pairs: Sequence[tuple[Pair, bool]]
    unit: tuple[str, str]
    margin: float | None

    def sentence(self) -> str:
        row = self.row
        if row.best is None:
            return f"{row.system} has the same mean in {_listed(list(row.means))} ({number(row.mean)})."
        leading = [code for code, mean in row.means.items() if abs(mean - row.means[row.best]) <= NEGLIGIBLE_DIFFERENCE]
        found: dict[str, list[str]] = {"": [], "few": [], "in doubt": [], "not shown": []}
        within = []
        for pair, is_equivalent in self.pairs:
            if row.best in {pair.system, pair.baseline} and pair.n_queries:
                other = pair.baseline if row.best == pair.system else pair.system
                if other in leading:
                    continue
                sign = -1 if other == pair.baseline else 1
                told = f"{other} ({signed(sign * pair.difference)}, p {probability(pair.p_adjusted)})"
                found[self._outcome(pair)].append(told)
                within += [other] if is_equivalent and pair.low < pair.high else []
        best = f"{_listed(leading)} ({number(row.means[row.best])})"
        return f"{row.system} is best in {best}{self._beside(found, within)}."

    def _outcome(self, pair: Pair) -> str:
        """Return why it cannot be said that the system is worse in the other language; empty if it can."""
        n_units = pair.n_queries if pair.n_clusters is None else pair.n_clusters
        if favoured(pair, self.measure, self.languages.design) != self.row.best:
            design = self.languages.design
            is_hopeless = least_p(pair, design) >= 1 - design.confidence_level
            return "few" if n_units < FEWEST or is_hopeless else "not shown"
        return doubt(pair, self.languages.design)

    def _beside(self, found: dict[str, list[str]], within: list[str]) -> str:
        said = [
            (found[""], "and worse by more than chance in {}"),
            (found["in doubt"], "and significantly worse, though the differences are too skewed to be sure, in {}"),
            (found["not shown"], "but is not shown worse in {}"),
            (found["few"], f"with too few {self.unit[1]} to say anything of {{}}"),
        ]
        text = "".join(f", {words.format(_listed(own))}" for own, words in said if own)
        return text + (f", and within the margin of {self.margin:g} in {_listed(within)}" if within else "")


def _listed(names: list[str]) -> str:
    if len(names) <= SPOKEN:
        return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"{', '.join(names[:SPOKEN])} and {len(names) - SPOKEN} more"
