"""What a benchmark says beside its tables, as facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from deadheat.benchmark.cases import SMALL
from deadheat.benchmark.languages import base, is_code
from deadheat.benchmark.parts import STRATA, Part, families_of
from deadheat.benchmark.result import BenchResult, Grouping, Key, Settings
from deadheat.evaluation.intervals import cluster_name
from deadheat.evaluation.scores import intervals
from deadheat.evaluation.strata import NONE, SMALLEST, label
from deadheat.measures import AP, MaxRel
from deadheat.report.conventions import broken_by
from deadheat.report.model import OF_FEW, Fact, note, said
from deadheat.report.numbers import format_cell, tell_counts
from deadheat.report.of_comparison import tell_intervals, tell_tests
from deadheat.report.of_evaluation import few_queries
from deadheat.report.of_languages import AMONG, facts_of_languages, tell_beside, tell_gaps, tell_languages
from deadheat.wording import counted, three

CASE = ("case", "cases")
ENGLISH = "English stop words"


def tell(result: BenchResult, groupings: Sequence[Grouping] = (), *, left_out: int = 0) -> list[Fact]:
    """Return the facts.

    Parameters
    ----------
    result : BenchResult
    groupings : sequence of Grouping, default ()
        The strata that the report shows.
    left_out : int, default 0
        Number of measures that the report does not show.
    """
    settings, of_languages = result.settings, ", ".join(result.languages)
    first = f"only the first {counted(settings.limit or 0, 'case')} of each set and language"
    apart = f"{of_languages}: kept apart; across them each counts the same, variance: divisor n"
    systems = "; ".join(f"{name} is {what}" for name, what in settings.systems.items() if what != "BM25")
    best = f"the best {settings.k:,} of each retriever, and all that tie with the last"
    found = [
        Fact(
            "",
            None,
            "WARNING",
            "" if settings.limit is None else f"{first}: a quick look, not a result",
            is_warning=True,
        ),
        Fact("limit", settings.limit),
        Fact("collection", settings.collection, "documents", f"{settings.n_documents:,} in {settings.collection}"),
        Fact("k", settings.k, "searched", best),
        Fact("systems", dict(settings.systems), "retrievers", systems),
        Fact("languages", list(result.languages), "languages", apart if len(result.languages) > 1 else ""),
        Fact("collection_languages", {"languages": list(settings.spoken), "is_guess": settings.is_guess}),
        *_of_searched_languages(result),
        Fact("words", {name: {how: list(own) for how, own in one.items()} for name, one in settings.words.items()}),
        *_of_words(settings),
        note("not parallel", families_of(list(result.parts.values()))[1]),
        *chain.from_iterable(tell_languages(one, unit=CASE, margin=settings.margin) for one in result.across.values()),
        *(
            note(
                "paired",
                f"{family.name}: {counted(len(unlike), 'pair id')} with other expected ids in one language than in"
                f" another ({three(unlike)}): they do not ask for the same",
            )
            for family in result.families
            if (unlike := family.unlike)
        ),
        *(facts_of_languages(result.across) if result.across else ()),
        Fact("margin", settings.margin),
        Fact("ties", "expected", "ties", broken_by("expected", None)),
        *_of_measures(result, left_out),
        *_of_strata(result, groupings),
        *_of_intervals(result, groupings),
        *_of_tests(result),
        *_of_cases(result),
        Fact("notes", list(result.notes)),
        *(note("note", one) for one in result.notes),
    ]
    return [one for one in found if one.key or one.text]


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


def _of_measures(result: BenchResult, left_out: int) -> list[Fact]:
    ontology, kind = result.settings.ontology, result.settings.kind
    is_min = any(isinstance(one, AP) and one.norm == "min" for one in result.measures)
    low = sum(min(case.relevance, default=1.0) < 1 for part in result.parts.values() for case in part.cases)
    graded = f"{counted(low, 'case')} with grades below 1: they count in graded measures; RR, Hit, R, P and AP"
    similar = f"highest similarity ({kind}) of a document found to an expected one"
    max_rel = similar if ontology else "without an ontology: the highest grade of an expected document found"
    return [
        *tell_counts(result.measures),
        said("measures", f"{left_out} more in the report, in csv and in json" if left_out else ""),
        said("AP", "divided by the expected ids or the cutoff, whichever is less" if is_min else ""),
        *([Fact("grades_below_1", low, "grades", f"{graded} take 1 or more as relevant")] if low else ()),
        *([Fact("ontology", ontology), Fact("similarity", kind)] if ontology else ()),
        said("MaxRel", max_rel if any(isinstance(one, MaxRel) for one in result.measures) else ""),
        *(
            said(
                "chance",
                f"random terms, {result.parts[key]}: "
                + ", ".join(f"{name} {format_cell(mean)}" for name, mean in means.items()),
            )
            for key, means in result.chance.items()
        ),
    ]


def _of_strata(result: BenchResult, groupings: Sequence[Grouping]) -> list[Fact]:
    """Name the columns of strata, and the strata of few cases."""
    by, parts = result.settings.by, result.parts.values()
    held = [name for name in STRATA if any(name in part.strata for part in parts)]
    told = f"cases have a {' and a '.join(held)}: --by {held[0]} shows the means by it" if held else ""
    lacking = ", ".join(str(part) for part in parts if not set(by) <= set(part.strata))
    small = {
        f"{one.part} {label(stratum)}": len(evaluation.query_ids)
        for one in groupings
        for strata in one.strata.values()
        for stratum, evaluation in strata.items()
        if stratum in strata.small
    }
    return [
        Fact("by", list(by)),
        said("strata", "" if groupings else told),
        note("strata", f"{lacking}: no case has a {' and a '.join(by)}" if lacking else ""),
        Fact("small_strata", small),
        note(OF_FEW, few_queries(small, SMALLEST, unit="cases") if small else ""),
    ]


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


def _of_cases(result: BenchResult) -> list[Fact]:
    """Name retrievers that found nothing, and sets that are too small for a conclusion."""

    def share(part: Part, number: int) -> str:
        return f"{number:,} of {counted(len(part.cases), 'case')} of {part}"

    easy, parts = "have the text of an expected document, ignoring case and whitespace", result.parts.values()
    small = ", ".join(f"{part} ({len(part.cases)})" for part in parts if len(part.cases) < SMALL)
    is_small = small and result.settings.limit is None
    bare = [(part, [case.case_id for case in part.cases if not case.expected_ids]) for part in parts]
    return [
        *(
            note("nothing expected", f"{share(part, len(ids))} ({three(ids)}), which count as 0")
            for part, ids in bare
            if ids
        ),
        *(
            note("found nothing", f"{', '.join(names)}: for {share(part, len(ids))} ({three(ids)}), which count as 0")
            for part in parts
            for ids, names in _missing(result, part).items()
        ),
        Fact("found_nothing", {" / ".join(key): len(one.missing_queries) for key, one in result.evaluations.items()}),
        Fact("verbatim", {" / ".join(key): count for key, count in result.verbatim.items()}),
        *(said("easy cases", f"{share(result.parts[key], n)} {easy}") for key, n in result.verbatim.items() if n),
        note("few cases", f"{small}: good for a first look, not for a conclusion" if is_small else ""),
    ]


def _missing(result: BenchResult, part: Part) -> dict[tuple[str, ...], list[str]]:
    """Return the cases that a retriever found nothing for, with the retrievers that are alike in that."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, evaluation in result.of_part(part).items():
        alike.setdefault(evaluation.missing_queries, []).append(name)
    return {ids: names for ids, names in alike.items() if ids}
