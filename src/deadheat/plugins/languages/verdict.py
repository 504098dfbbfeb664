"""What is said of languages: in which of them a system is worse than in its best one."""

from deadheat.core import stats
from deadheat.core.design import Design
from deadheat.core.evaluation.intervals import FEWEST
from deadheat.core.measures import Measure
from deadheat.core.wording import UNIT, format_count, format_p_value
from deadheat.plugins.compare.deciding import doubt, favoured
from deadheat.plugins.compare.least_p import least_p, n_units
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.compare.verdict_facts import format_number, format_signed
from deadheat.plugins.languages.across import Languages

SPOKEN = 3  # systems that are said one by one
# what is said of the other languages; the key is why the system is not shown to be worse in them
OTHERS = {
    "": ", and worse by more than chance in {}",
    "in doubt": ", and significantly worse, though the differences are too skewed to be sure, in {}",
    "not shown": ", but is not shown worse in {}",
    "few": ", with too few {unit} to say anything about {}",
    "within": ", and within the margin of {margin:g} in {}",
}


def sentences_of_languages(
    found: Languages, *, unit: tuple[str, str] = UNIT, margin: float | None = None, name: str = ""
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
    shared = format_count(rows[0].n_queries, *unit)
    begin = f"Between languages{f' of {name}' if name else ''}, by {measure.label}"
    if rows[0].n_units < FEWEST:
        return (f"{begin}: {shared} in each of {', '.join(found.languages)} prove nothing.",)
    is_whole = {one.pair.n_queries for one in found.differences} == {rows[0].n_queries}
    begin += f" over the same {shared}" if is_whole else f" ({shared} in all languages, more in some pairs)"
    equivalent = [False] * len(found.differences) if margin is None else [own for _, own in found.equivalence(margin)]
    said = []
    for row in rows[:SPOKEN]:
        if row.best is None:
            said.append(f"{row.system} has the same mean in {_listed([*row.means])} ({format_number(row.mean)}).")
            continue
        leading = [
            code for code, mean in row.means.items() if abs(mean - row.means[row.best]) <= stats.NEGLIGIBLE_DIFFERENCE
        ]
        others: dict[str, list[str]] = {key: [] for key in OTHERS}
        for one, is_equivalent in zip(found.differences, equivalent, strict=True):
            pair, names = one.pair, {one.pair.system, one.pair.baseline}
            is_own = (one.system, pair.measure) == (row.system, measure.label) and row.best in names
            if not is_own or not pair.n_queries or names <= {*leading}:
                continue
            (other,) = names - {row.best}
            size = format_signed(-pair.difference if other == pair.baseline else pair.difference)
            others[_why_not_worse(pair, measure, row.best, found.design)].append(
                f"{other} ({size}, p {format_p_value(pair.p_adjusted)})"
            )
            others["within"] += [other] if is_equivalent and pair.low < pair.high else []
        text = "".join(
            OTHERS[key].format(_listed(own), unit=unit[1], margin=margin) for key, own in others.items() if own
        )
        said.append(f"{row.system} is best in {_listed(leading)} ({format_number(row.means[row.best])}){text}.")
    more = (f"The tables have {format_count(len(rows) - SPOKEN, 'more system')}.",) if len(rows) > SPOKEN else ()
    return (f"{begin}: {said[0]}", *(f"By {measure.label}, {one}" for one in said[1:]), *more)


def _why_not_worse(pair: Pair, measure: Measure, best: str, design: Design) -> str:
    """Return why it cannot be said that a system is worse in the other language; empty if it can."""
    if favoured(pair, measure, design) == best:
        return doubt(pair, design)
    return "few" if n_units(pair) < FEWEST or least_p(pair, design) >= 1 - design.confidence_level else "not shown"


def _listed(names: list[str]) -> str:
    if len(names) <= SPOKEN:
        return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"{', '.join(names[:SPOKEN])} and {len(names) - SPOKEN} more"
