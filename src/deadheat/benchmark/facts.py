"""What a benchmark says beside its tables, as facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deadheat.benchmark.cases import SMALL
from deadheat.benchmark.languages import base, is_code
from deadheat.benchmark.parts import STRATA, Part, families_of
from deadheat.benchmark.result import BenchResult, Grouping, Key, Settings
from deadheat.evaluation.intervals import cluster_name
from deadheat.evaluation.scores import intervals
from deadheat.evaluation.strata import NONE, SMALLEST, label
from deadheat.measures import AP, MaxRel
from deadheat.report.conventions import broken_by
from deadheat.report.model import (
    OF_FEW,
    Fact,
    note,
    said,
    warning,
)
from deadheat.report.numbers import format_cell
from deadheat.report.of_comparison import tell_intervals, tell_tests
from deadheat.report.of_languages import AMONG, facts_of_languages, tell_beside, tell_gaps, tell_languages
from deadheat.report.of_strata import few_queries
from deadheat.report.totals import tell_counts
from deadheat.wording import counted, three

CASE = ("case", "cases")
ENGLISH = "English stop words"


def tell(result: BenchResult, groupings: Sequence[Grouping] = (), *, left_out: int = 0) -> Iterator[Fact]:
    """Yield the facts.

    Parameters
    ----------
    result : BenchResult
    groupings : sequence of Grouping, default ()
        The strata that the report shows.
    left_out : int, default 0
        Number of measures that the report does not show.
    """
    settings = result.settings
    if settings.limit is not None:
        text = f"only the first {counted(settings.limit, 'case')} of each set and language: a quick look, not a result"
        yield warning("WARNING", text)
    yield Fact("limit", settings.limit)
    yield Fact("collection", settings.collection, "documents", f"{settings.n_documents:,} in {settings.collection}")
    yield Fact(
        "k", settings.k, "searched", f"the best {settings.k:,} of each retriever, and all that tie with the last"
    )

    languages = ", ".join(result.languages)
    of_languages = f"{languages}: kept apart; across them each counts the same, variance: divisor n"
    systems = [f"{name} is {what}" for name, what in settings.systems.items() if what != "BM25"]
    yield Fact("systems", dict(settings.systems), "retrievers", "; ".join(systems))
    yield Fact("languages", list(result.languages), "languages", of_languages if len(result.languages) > 1 else "")
    yield Fact("collection_languages", {"languages": list(settings.spoken), "is_guess": settings.is_guess})
    yield from _of_searched_languages(result)
    yield Fact("words", {name: {how: list(own) for how, own in one.items()} for name, one in settings.words.items()})
    yield from _of_words(settings)
    if text := families_of(list(result.parts.values()))[1]:
        yield note("not parallel", text)
    for one in result.across.values():
        yield from tell_languages(one, unit=CASE, margin=settings.margin)
    for family in result.families:
        if unlike := family.unlike:
            text = f"{counted(len(unlike), 'pair id')} with other expected ids in one language than in another"
            yield note("paired", f"{family.name}: {text} ({three(unlike)}): they do not ask for the same")
    if result.across:
        yield from facts_of_languages(result.across)
    yield Fact("margin", settings.margin)
    yield Fact("ties", "expected", "ties", broken_by("expected", None))
    yield from _of_measures(result, left_out)
    yield from _of_strata(result, groupings)
    yield from _of_intervals(result, groupings)
    yield from _of_tests(result)
    yield from _of_cases(result)
    yield Fact("notes", list(result.notes))
    yield from (note("note", one) for one in result.notes)


def _of_searched_languages(result: BenchResult) -> Iterator[Fact]:
    """Say in which languages the texts are that cases are searched in; a search that crosses languages is a note."""
    spoken, parts = result.settings.spoken, [part for part in result.parts.values() if part.language != NONE]
    if parts and not spoken:
        text = f"nobody says in which language the texts of {result.settings.collection} are: name it by"
        yield said("languages", f"{text} --collection-language")
    if not (parts and spoken):
        return
    known = [part for part in parts if is_code(part.language)]
    if unknown := ", ".join(str(part) for part in parts if part not in known):
        text = f"{unknown}: no code of ISO 639, so that nobody can tell whether the texts are in it"
        yield note("languages meet", text)
    texts = " and ".join(spoken) + " (guessed from them)" * result.settings.is_guess
    held = set(map(base, spoken))
    if crossing := ", ".join(str(part) for part in known if base(part.language) not in held):
        yield note("languages meet", f"{crossing}: searched in texts in {texts}, another language")
    for part in known if len(held) > 1 else ():
        if base(part.language) in held:
            yield note("languages meet", f"{part}: searched in texts in {texts}")


def _of_words(settings: Settings) -> Iterator[Fact]:
    """Say how words were taken, where that is not English alone for English cases alone."""
    for name, found in settings.words.items():
        languages = [base(language) for own in found.values() for language in own]
        is_english = list(found) == [ENGLISH]
        if not (is_english and set(languages) <= {"en", NONE}):
            text = f"{name}: " + "; ".join(f"{how} ({', '.join(own)})" for how, own in found.items())
            is_alike = is_english or (len(found) == 1 and len(languages) > 1)
            yield said("words", text + "; bm25(language='cases') takes those of each language" * is_alike)


def _of_measures(result: BenchResult, left_out: int) -> Iterator[Fact]:
    yield from tell_counts(result.measures)
    if left_out:
        yield said("measures", f"{left_out} more in the report, in csv and in json")
    if any(isinstance(one, AP) and one.norm == "min" for one in result.measures):
        yield said("AP", "divided by the expected ids or the cutoff, whichever is less")
    low = sum(min(case.relevance, default=1.0) < 1 for part in result.parts.values() for case in part.cases)
    if low:  # they are not relevant to binary measures
        text = f"{counted(low, 'case')} with grades below 1: they count in graded measures; RR, Hit, R, P and AP"
        yield Fact("grades_below_1", low, "grades", f"{text} take 1 or more as relevant")
    kind = result.settings.kind
    if result.settings.ontology is None:
        max_rel = "without an ontology: the highest grade of an expected document found"
    else:
        yield Fact("ontology", result.settings.ontology)
        yield Fact("similarity", kind)
        max_rel = f"highest similarity ({kind}) of a document found to an expected one"
    if any(isinstance(one, MaxRel) for one in result.measures):
        yield said("MaxRel", max_rel)
    for key, means in result.chance.items():
        shown = ", ".join(f"{measure} {format_cell(mean)}" for measure, mean in means.items())
        yield said("chance", f"random terms, {result.parts[key]}: {shown}")


def _of_strata(result: BenchResult, groupings: Sequence[Grouping]) -> Iterator[Fact]:
    """Name the columns of strata, and the strata of few cases."""
    yield Fact("by", list(result.settings.by))
    held = [name for name in STRATA if any(name in part.strata for part in result.parts.values())]
    if held and not groupings:
        yield said("strata", f"cases have a {' and a '.join(held)}: --by {held[0]} shows the means by it")
    by = result.settings.by
    if lacking := [str(part) for part in result.parts.values() if not set(by) <= set(part.strata)]:
        yield note("strata", f"{', '.join(lacking)}: no case has a {' and a '.join(by)}")
    small = {
        f"{one.part} {label(stratum)}": len(evaluation.query_ids)
        for one in groupings
        for strata in one.strata.values()
        for stratum, evaluation in strata.items()
        if stratum in strata.small
    }
    yield Fact("small_strata", small)
    if small:
        yield note(OF_FEW, few_queries(small, SMALLEST, unit="cases"))


def _of_intervals(result: BenchResult, groupings: Sequence[Grouping]) -> Iterator[Fact]:
    """Say how the intervals were made, and how clusters change them."""
    design, cluster = result.settings.design, result.settings.cluster
    column = cluster_name(cluster)
    yield Fact("cluster", column)
    on = {key: f" on {part}" if len(result.parts) > 1 else "" for key, part in result.parts.items()}
    found = [
        (measure, f"{measure} of {key.retriever}{on[key[:2]]}", one)
        for key, own in result.intervals.items()
        for measure, one in own.items()
    ]
    found += [
        (measure, f"{measure} of {key.retriever} on {one.part} {label(stratum)}", interval)
        for one in groupings
        for key, strata in one.intervals.items()
        for stratum, own in strata.items()
        for measure, interval in own.items()
    ]
    differences = [
        (f"{pair.measure} of {pair.system} - {pair.baseline}{on[key]}", pair)
        for key, comparison in result.comparisons.items()
        for pair in comparison.pairs
    ]
    clusters = "" if column is None else f"clusters ({column})"
    yield from tell_intervals(design, found, differences, clusters=clusters, unit=("case", "cases"))
    for part in result.parts.values() if column is None else ():
        n_cases, n_groups = len(part.cases), len(set(part.shared()))
        if n_groups < n_cases:
            text = (
                f"the {n_cases:,} cases of {part} are not {n_cases:,} independent ones: by shared expected ids they are"
            )
            narrow = f"{counted(n_groups, 'group')}, and intervals are too narrow; cluster by expected_ids"
            yield note("clusters", f"{text} {narrow}")
    if column is None:
        return
    widths = {str(part): _widened(result, key) for key, part in result.parts.items()}
    for part in result.parts.values():
        n_clusters, ratio = len(set((part.clusters(cluster) or {}).values())), widths[str(part)]
        times = f"; intervals of {result.measures[0].label} are {ratio or 0:.2f} times as wide as without"
        text = f"{part}: {counted(len(part.cases), 'case')} in {counted(n_clusters, 'cluster')}"
        yield note("clusters", text + times * (ratio is not None))
    yield Fact("width_by_clusters", widths)


def _widened(result: BenchResult, key: tuple[str, str]) -> float | None:
    """Return how many times as wide clusters make the intervals of the first measure, the mean over retrievers."""
    ratios, measure = [], result.measures[0]
    for name, evaluation in result.of_part(result.parts[key]).items():
        (alone,) = intervals([evaluation[measure]], result.settings.design.with_clusters(None))
        own = result.intervals[Key(*key, name)][measure.label]
        if alone.high > alone.low:
            ratios.append((own.high - own.low) / (alone.high - alone.low))
    return sum(ratios) / len(ratios) if ratios else None


def _of_tests(result: BenchResult) -> Iterator[Fact]:
    if result.comparisons:
        places = {key: str(result.parts[key]) if len(result.comparisons) > 1 else "" for key in result.comparisons}
        placed = [(places[key], pair) for key, one in result.comparisons.items() for pair in one.pairs]
        has_clusters = result.settings.cluster is not None
        yield from tell_tests(
            result.settings.design,
            placed,
            has_clusters=has_clusters,
            unit=CASE,
            among="retrievers" if result.across else "",
            apart="set and language" if len(result.comparisons) > 1 else "",
        )
    of = " of {}" if len(result.across) > 1 else ""
    for name, one in result.across.items():
        if result.comparisons:
            yield from tell_beside(one, unit=CASE, among=AMONG + of.format(name))
        else:
            placed = [(difference.system, difference.pair) for difference in one.differences]
            has_clusters, among = one.cluster is not None, AMONG + of.format(name) if of else ""
            yield from tell_tests(result.settings.design, placed, has_clusters=has_clusters, unit=CASE, among=among)
        yield from tell_gaps(one)


def _of_cases(result: BenchResult) -> Iterator[Fact]:
    """Name retrievers that found nothing, and sets that are too small for a conclusion."""

    def share(part: Part, number: int) -> str:
        return f"{number:,} of {counted(len(part.cases), 'case')} of {part}"

    for part in result.parts.values():
        if bare := [case.case_id for case in part.cases if not case.expected_ids]:
            yield note("nothing expected", f"{share(part, len(bare))} ({three(bare)}), which count as 0")
        alike: dict[tuple[str, ...], list[str]] = {}
        for name, evaluation in result.of_part(part).items():
            alike.setdefault(evaluation.missing_queries, []).append(name)
        alike.pop((), None)
        for ids, names in alike.items():
            of = f"{share(part, len(ids))} ({three(ids)})"
            yield note("found nothing", f"{', '.join(names)}: for {of}, which count as 0")
    yield Fact("found_nothing", {" / ".join(key): len(one.missing_queries) for key, one in result.evaluations.items()})
    yield Fact("verbatim", {" / ".join(key): count for key, count in result.verbatim.items()})
    easy = "have the text of an expected document, ignoring case and whitespace"
    for key, count in result.verbatim.items():
        if count:
            yield said("easy cases", f"{share(result.parts[key], count)} {easy}")
    small = [f"{part} ({len(part.cases)})" for part in result.parts.values() if len(part.cases) < SMALL]
    if small and result.settings.limit is None:
        yield note("few cases", f"{', '.join(small)}: good for a first look, not for a conclusion")
