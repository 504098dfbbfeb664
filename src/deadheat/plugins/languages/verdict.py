"""What is said of languages: in which of them a system is worse than in its best one."""

from deadheat.core import stats
from deadheat.core.design import Design
from deadheat.core.evaluation.intervals import FEWEST
from deadheat.core.measures import Measure
from deadheat.core.wording import UNIT, format_count, format_p_value
from deadheat.plugins.compare.deciding import explain_doubt, find_favourite
from deadheat.plugins.compare.least_p import least_p, n_units
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.compare.verdict_facts import format_number, format_signed
from deadheat.plugins.languages.across import Languages
from deadheat.plugins.languages.system_means import AcrossLanguages

N_SPOKEN = 3  # systems, and languages of a list, that are said one by one
# what is said of the other languages; the key is why the system is not shown to be worse in them
OTHERS = {
    "": ", and worse by more than chance in {languages}",
    "in doubt": ", and significantly worse, though the differences are too skewed to be sure, in {languages}",
    "not shown": ", but is not shown worse in {languages}",
    "few": ", with too few {queries} to say anything about {languages}",
    "within": ", and within the margin of {margin:g} in {languages}",
}


def sentences_of_languages(
    languages: Languages, *, unit: tuple[str, str] = UNIT, margin: float | None = None, name: str = ""
) -> tuple[str, ...]:
    """Return a sentence for each system, by the first measure that has means; none where no query is in all languages.

    Parameters
    ----------
    languages : Languages
    unit : tuple of str
        What a query is called, in the singular and the plural.
    margin : float, optional
        Then languages that are shown to be equivalent up to it are named.
    name : str, default ""
        Whose languages they are, if there are others.
    """
    measure = _first_measure(languages)
    if measure is None:
        return ()
    rows = [row for row in languages.across if row.measure == measure.label and row.n_queries]
    n_queries = rows[0].n_queries
    shared = format_count(n_queries, *unit)
    whose = f" of {name}" if name else ""
    begin = f"Between languages{whose}, by {measure.label}"
    if rows[0].n_units < FEWEST:
        return (f"{begin}: {shared} in each of {', '.join(languages.languages)} prove nothing.",)
    if all(difference.pair.n_queries == n_queries for difference in languages.differences):
        begin = f"{begin} over the same {shared}"
    else:
        begin = f"{begin} ({shared} in all languages, more in some pairs)"
    equivalent = _list_equivalent(languages, margin)
    sentences: list[str] = []
    for row in rows[:N_SPOKEN]:
        description = _describe_system(languages, row, measure, equivalent, unit=unit, margin=margin)
        if sentences:
            sentences.append(f"By {measure.label}, {description}")
        else:
            sentences.append(f"{begin}: {description}")
    if len(rows) > N_SPOKEN:
        sentences.append(f"The tables have {format_count(len(rows) - N_SPOKEN, 'more system')}.")
    return tuple(sentences)


def _first_measure(languages: Languages) -> Measure | None:
    """Return the first measure of quality that has a mean of some system; None if there is none."""
    known = {row.measure for row in languages.across if row.n_queries}
    for measure in languages.measures:
        if measure.is_quality and measure.label in known:
            return measure
    return None


def _list_equivalent(languages: Languages, margin: float | None) -> list[bool]:
    """Return of each difference whether it is shown to lie within the margin."""
    if margin is None:
        return [False] * len(languages.differences)
    return [is_equivalent for _, is_equivalent in languages.equivalence(margin)]


def _describe_system(
    languages: Languages,
    row: AcrossLanguages,
    measure: Measure,
    equivalent: list[bool],
    *,
    unit: tuple[str, str],
    margin: float | None,
) -> str:
    """Say in which languages a system is best, and what is known of the others."""
    if row.best is None:
        return f"{row.system} has the same mean in {_format_names([*row.means])} ({format_number(row.mean)})."
    best_mean = row.means[row.best]
    leading = []
    for language, mean in row.means.items():
        if abs(mean - best_mean) <= stats.NEGLIGIBLE_DIFFERENCE:
            leading.append(language)
    others = _sort_others(languages, row, measure, leading, equivalent)
    sentence = f"{row.system} is best in {_format_names(leading)} ({format_number(best_mean)})"
    for reason, names in others.items():
        if names:
            words = {"languages": _format_names(names), "queries": unit[1], "margin": margin}
            sentence += OTHERS[reason].format_map(words)
    return f"{sentence}."


def _sort_others(
    languages: Languages, row: AcrossLanguages, measure: Measure, leading: list[str], equivalent: list[bool]
) -> dict[str, list[str]]:
    """Return the languages in which a system is not best, by the reason of `OTHERS`."""
    others: dict[str, list[str]] = {reason: [] for reason in OTHERS}
    best = row.best or ""
    for difference, is_equivalent in zip(languages.differences, equivalent, strict=True):
        pair = difference.pair
        names = {pair.system, pair.baseline}
        if difference.system != row.system or pair.measure != measure.label or best not in names:
            continue
        if not pair.n_queries or names <= set(leading):
            continue
        if pair.baseline == best:
            other, change = pair.system, pair.difference
        else:
            other, change = pair.baseline, -pair.difference
        reason = _why_not_worse(pair, measure, best, languages.design)
        others[reason].append(f"{other} ({format_signed(change)}, p {format_p_value(pair.p_adjusted)})")
        if is_equivalent and pair.low < pair.high:
            others["within"].append(other)
    return others


def _why_not_worse(pair: Pair, measure: Measure, best: str, design: Design) -> str:
    """Return why it cannot be said that a system is worse in the other language; empty if it can."""
    if find_favourite(pair, measure, design) == best:
        return explain_doubt(pair, design)
    level = 1 - design.confidence_level
    if n_units(pair) < FEWEST or least_p(pair, design) >= level:
        return "few"
    return "not shown"


def _format_names(names: list[str]) -> str:
    if len(names) > N_SPOKEN:
        return f"{', '.join(names[:N_SPOKEN])} and {len(names) - N_SPOKEN} more"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
