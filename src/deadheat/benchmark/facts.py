"""What a benchmark says beside its tables, as facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deadheat.benchmark.cases import SMALL
from deadheat.benchmark.families import families_of
from deadheat.benchmark.meeting import tell_meeting, tell_words
from deadheat.benchmark.parts import STRATA, Part
from deadheat.benchmark.result import Grouping, Key, Results
from deadheat.evaluation.intervals import cluster_name
from deadheat.evaluation.scores import intervals
from deadheat.evaluation.strata import SMALLEST, label
from deadheat.measures import AP, MaxRel
from deadheat.report.conventions import broken_by
from deadheat.report.model import OF_FEW, Fact
from deadheat.report.numbers import format_cell, listed
from deadheat.report.of_comparison import tell_intervals, tell_tests
from deadheat.report.of_languages import AMONG, facts_of_languages, tell_beside, tell_gaps, tell_languages
from deadheat.report.of_strata import few_queries
from deadheat.report.totals import tell_counts
from deadheat.wording import counted, three

CASE = ("case", "cases")


def tell(result: Results, groupings: Sequence[Grouping] = (), *, left_out: int = 0) -> Iterator[Fact]:
    """Yield the facts.

    Parameters
    ----------
    result : Results
    groupings : sequence of Grouping, default ()
        The strata that the report shows.
    left_out : int, default 0
        Number of measures that the report does not show.
    """
    settings = result.settings
    if settings.limit is not None:
        text = f"only the first {counted(settings.limit, 'case')} of each set and language: a quick look, not a result"
        yield Fact("", None, "WARNING", text, is_warning=True)
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
    spoken = settings.spoken
    yield Fact("collection_languages", {"languages": list(spoken.languages), "is_guess": spoken.is_guess})
    for text, is_note in tell_meeting(list(result.parts.values()), spoken, settings.collection):
        yield Fact("", None, "languages meet" if is_note else "languages", text, is_note=is_note)
    yield Fact("words", {name: {how: list(own) for how, own in one.items()} for name, one in settings.words.items()})
    for text in tell_words(settings.words):
        yield Fact("", None, "words", text)
    if text := families_of(list(result.parts.values()))[1]:
        yield Fact("", None, "not parallel", text, is_note=True)
    for one in result.across.values():
        yield from tell_languages(one, unit=CASE, margin=settings.margin)
    for family in result.families:
        if unlike := family.unlike:
            text = f"{counted(len(unlike), 'pair id')} with other expected ids in one language than in another"
            text = f"{family.name}: {text} ({three(unlike)}): they do not ask for the same"
            yield Fact("", None, "paired", text, is_note=True)
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
    for note in result.notes:
        yield Fact("", None, "note", note, is_note=True)


def _of_measures(result: Results, left_out: int) -> Iterator[Fact]:
    yield from tell_counts(result.measures)
    if left_out:
        yield Fact("", None, "measures", f"{left_out} more in the report, in csv and in json")
    if any(isinstance(one, AP) and one.norm == "min" for one in result.measures):
        yield Fact("", None, "AP", "divided by the expected ids or the cutoff, whichever is less")
    yield from _of_grades(result)
    kind = result.settings.kind
    if result.settings.ontology is None:
        max_rel = "without an ontology: the highest grade of an expected document found"
    else:
        yield Fact("ontology", result.settings.ontology)
        yield Fact("similarity", kind)
        max_rel = f"highest similarity ({kind}) of a document found to an expected one"
    if any(isinstance(one, MaxRel) for one in result.measures):
        yield Fact("", None, "MaxRel", max_rel)
    for key, means in result.chance.items():
        shown = ", ".join(f"{measure} {format_cell(mean)}" for measure, mean in means.items())
        yield Fact("", None, "chance", f"random terms, {result.parts[key]}: {shown}")


def _of_grades(result: Results) -> Iterator[Fact]:
    """Say that ids with a grade below 1 are not relevant to binary measures."""
    low = sum(min(case.relevance, default=1.0) < 1 for part in result.parts.values() for case in part.cases)
    if low:
        text = f"{counted(low, 'case')} with grades below 1: they count in graded measures; RR, Hit, R, P and AP"
        yield Fact("grades_below_1", low, "grades", f"{text} take 1 or more as relevant")


def _of_strata(result: Results, groupings: Sequence[Grouping]) -> Iterator[Fact]:
    """Name the columns of strata, and the strata of few cases."""
    yield Fact("by", list(result.settings.by))
    held = [name for name in STRATA if any(name in part.strata for part in result.parts.values())]
    if held and not groupings:
        yield Fact("", None, "strata", f"cases have a {' and a '.join(held)}: --by {held[0]} shows the means by it")
    by = result.settings.by
    if lacking := [str(part) for part in result.parts.values() if not set(by) <= set(part.strata)]:
        yield Fact("", None, "strata", f"{', '.join(lacking)}: no case has a {' and a '.join(by)}", is_note=True)
    small = {
        f"{one.part} {label(stratum)}": len(evaluation.query_ids)
        for one in groupings
        for strata in one.strata.values()
        for stratum, evaluation in strata.items()
        if stratum in strata.small
    }
    yield Fact("small_strata", small)
    if small:
        yield Fact("", None, OF_FEW, few_queries(small, SMALLEST, unit="cases"), is_note=True)


def _of_intervals(result: Results, groupings: Sequence[Grouping]) -> Iterator[Fact]:
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
    if column is None:
        for part in result.parts.values():
            yield from _of_repeats(part)
        return
    widths = {str(part): _widened(result, key) for key, part in result.parts.items()}
    for part in result.parts.values():
        n_clusters = len(set((part.clusters(cluster) or {}).values()))
        ratio = widths[str(part)]
        wider = (
            ""
            if ratio is None
            else f"; intervals of {result.measures[0].label} are {ratio:.2f} times as wide as without"
        )
        text = f"{part}: {counted(len(part.cases), 'case')} in {counted(n_clusters, 'cluster')}{wider}"
        yield Fact("", None, "clusters", text, is_note=True)
    yield Fact("width_by_clusters", widths)


def _widened(result: Results, key: tuple[str, str]) -> float | None:
    """Return how many times as wide clusters make the intervals of the first measure, the mean over retrievers."""
    ratios = []
    measure = result.measures[0]
    for of_run, evaluation in result.evaluations.items():
        if of_run[:2] == key:
            (alone,) = intervals([evaluation[measure]], result.settings.design.with_clusters(None))
            own = result.intervals[of_run][measure.label]
            if alone.high > alone.low:
                ratios.append((own.high - own.low) / (alone.high - alone.low))
    return sum(ratios) / len(ratios) if ratios else None


def _of_repeats(part: Part) -> Iterator[Fact]:
    """Say that cases share expected ids."""
    n_cases, n_independent = len(part.cases), part.n_independent
    if n_independent < n_cases:
        text = (
            f"the {n_cases:,} cases of {part} are not {n_cases:,} independent ones: by shared expected ids they are"
            f" {counted(n_independent, 'group')}, and intervals are too narrow; cluster by expected_ids"
        )
        yield Fact("", None, "clusters", text, is_note=True)


def _of_tests(result: Results) -> Iterator[Fact]:
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


def _of_cases(result: Results) -> Iterator[Fact]:
    """Name retrievers that found nothing, and sets that are too small for a conclusion."""
    for key, part in result.parts.items():
        if bare := [case.case_id for case in part.cases if not case.expected_ids]:
            text = f"{len(bare):,} of {counted(len(part.cases), 'case')} of {part} ({three(bare)}), which count as 0"
            yield Fact("", None, "nothing expected", text, is_note=True)
        alike: dict[tuple[str, ...], list[str]] = {}
        for name in result.retrievers:
            alike.setdefault(result.evaluations[Key(*key, name)].missing_queries, []).append(name)
        alike.pop((), None)
        for ids, names in alike.items():
            of = f"{len(ids):,} of {counted(len(part.cases), 'case')} of {part} ({listed(ids)})"
            yield Fact("", None, "found nothing", f"{', '.join(names)}: for {of}, which count as 0", is_note=True)
    yield Fact("found_nothing", {" / ".join(key): len(one.missing_queries) for key, one in result.evaluations.items()})
    yield Fact("verbatim", {" / ".join(key): count for key, count in result.verbatim.items()})
    for key, count in result.verbatim.items():
        if count:
            of = f"{count:,} of {counted(len(result.parts[key].cases), 'case')} of {result.parts[key]}"
            yield Fact(
                "", None, "easy cases", f"{of} have the text of an expected document, ignoring case and whitespace"
            )
    small = [f"{part} ({len(part.cases)})" for part in result.parts.values() if len(part.cases) < SMALL]
    if small and result.settings.limit is None:
        yield Fact(
            "", None, "few cases", f"{', '.join(small)}: good for a first look, not for a conclusion", is_note=True
        )
