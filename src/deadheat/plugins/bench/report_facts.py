"""What is said below the tables of a benchmark: settings, languages, measures, intervals, tests and cases."""

from collections.abc import Iterator, Sequence, Set as AbstractSet

import numpy as np

from deadheat.core.evaluation.interval_estimates import estimate_intervals
from deadheat.core.evaluation.intervals import Interval, IntervalOptions, cluster_name
from deadheat.core.evaluation.query_columns import SMALLEST
from deadheat.core.evaluation.stratum import NONE, label
from deadheat.core.measures import AP, Measure
from deadheat.core.report.cells import OF_FEW, format_cell
from deadheat.core.report.conventions import tell_ties
from deadheat.core.report.model import Fact, note_fact, prose_fact, warning_fact
from deadheat.core.report.of_strata import describe_small_strata
from deadheat.core.report.totals import tell_counts
from deadheat.core.structures import group_values
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.bench.case_groups import STRATA, CaseGroup
from deadheat.plugins.bench.cases import SMALL, STANDARD, half_width
from deadheat.plugins.bench.families import describe_unpaired
from deadheat.plugins.bench.languages import base, is_code
from deadheat.plugins.bench.report_verdicts import CASE
from deadheat.plugins.bench.result import BenchResult, BenchSettings, Key, PartStrata
from deadheat.plugins.compare.pair import Pair, Pairs
from deadheat.plugins.compare.report import tell_intervals
from deadheat.plugins.compare.report_tests import tell_tests
from deadheat.plugins.languages.report import (
    AMONG,
    facts_of_languages,
    placed_pairs,
    tell_beside,
    tell_gaps,
    tell_languages,
)
from deadheat.plugins.more_measures.largest import MaxRel


def tell(
    result: BenchResult, groupings: Sequence[PartStrata] = (), *, shown: Sequence[Measure] | None = None
) -> list[Fact]:
    """Return the facts.

    Parameters
    ----------
    result : BenchResult
    groupings : sequence of PartStrata, default ()
        The strata that the report shows.
    shown : sequence of Measure, optional
        The measures that the report shows; by default all.
    """
    labels = {measure.label for measure in shown or result.measures}
    facts: list[Fact] = []
    facts += _of_settings(result)
    facts += _of_languages(result)
    facts.append(Fact("margin", result.settings.margin))
    facts += tell_ties("expected", None)
    facts += _of_measures(result, labels)
    facts += _of_strata(result, groupings)
    facts += _of_intervals(result, groupings, labels)
    facts += _of_tests(result, labels)
    facts += _of_cases(result)
    facts += _of_sizes(result)
    facts.append(Fact("answers", result.list_answers()))
    facts.append(Fact("notes", list(result.notes)))
    for note in result.notes:
        facts.append(note_fact("note", note))
    return [fact for fact in facts if fact.key or fact.text]


def _of_settings(result: BenchResult) -> Iterator[Fact]:
    """Say what was searched, how deep, and by what."""
    settings = result.settings
    warning = ""
    if settings.limit is not None:
        cases = format_count(settings.limit or 0, "case")
        warning = f"only the first {cases} of each set and language: a quick look, not a result"
    yield warning_fact("WARNING", warning)
    yield Fact("limit", settings.limit)
    yield Fact("collection", settings.collection, "documents", f"{settings.n_documents:,} in {settings.collection}")
    searched = f"the best {settings.k:,} of each retriever, and all that tie with the last"
    yield Fact("k", settings.k, "searched", searched)
    described = [f"{name} is {what}" for name, what in settings.systems.items() if what != "BM25"]
    yield Fact("systems", dict(settings.systems), "retrievers", "; ".join(described))


def _of_languages(result: BenchResult) -> Iterator[Fact]:
    """Say in which languages cases and texts are, and how languages are compared."""
    settings = result.settings
    apart = ""
    if len(result.languages) > 1:
        names = ", ".join(result.languages)
        apart = f"{names}: each evaluated by itself; in a mean over languages, each counts the same"
    yield Fact("languages", list(result.languages), "languages", apart)
    yield Fact("collection_languages", {"languages": list(settings.spoken), "is_guess": settings.is_guess})
    yield from _of_searched_languages(result)
    yield Fact("assumed", list(settings.assumed))
    for assumption in settings.assumed:
        yield note_fact("assumed", assumption)
    yield Fact("words", dict(settings.words))
    yield from _of_words(settings)
    yield note_fact("not parallel", describe_unpaired(list(result.parts.values()), result.families))
    for across in result.across.values():
        yield from tell_languages(across, unit=CASE, margin=settings.margin)
    for family in result.families:
        unlike = family.unlike
        if unlike:
            yield note_fact(
                "paired",
                f"{family.name}: {format_count(len(unlike), 'pair id')} with other expected ids in one language than in"
                f" another ({format_list(unlike)}): they do not ask for the same",
            )
    if result.across:
        yield from facts_of_languages(result.across)


def _of_searched_languages(result: BenchResult) -> list[Fact]:
    """Say in which languages the texts are that cases are searched in; a search that crosses languages is a note."""
    spoken, parts = result.settings.spoken, [part for part in result.parts.values() if part.language != NONE]
    if parts and not spoken:
        text = f"that of the texts in {result.settings.collection} is not known: name the collection's language"
        return [prose_fact("languages", text)]
    known = [part for part in parts if is_code(part.language)]
    unknown = ", ".join(str(part) for part in parts if part not in known)
    texts = " and ".join(spoken) + " (guessed from them)" * result.settings.is_guess
    held = set(map(base, spoken))
    crossing = ", ".join(str(part) for part in known if base(part.language) not in held)
    no_code = f"{unknown}: no code of ISO 639, so it is not known whether the texts are in that language"
    return [
        note_fact("cross-lingual", no_code if unknown else ""),
        note_fact("cross-lingual", f"{crossing}: searched in texts in {texts}, another language" if crossing else ""),
        *(
            note_fact("cross-lingual", f"{part}: searched in texts in {texts}")
            for part in known
            if len(held) > 1 and base(part.language) in held
        ),
    ]


def _of_words(settings: BenchSettings) -> Iterator[Fact]:
    """Say how words were taken, unless all were taken as English for English cases."""
    for name, found in settings.words.items():
        languages = [base(language) for own in found.values() for language in own]
        if name not in settings.english or not set(languages) <= {"en", NONE}:
            text = f"{name}: " + "; ".join(f"{how} ({', '.join(own)})" for how, own in found.items())
            is_alike = name in settings.english or (len(found) == 1 and len(languages) > 1)
            yield prose_fact("words", text + "; bm25(language='cases') takes those of each language" * is_alike)


def _of_measures(result: BenchResult, shown: AbstractSet[str]) -> list[Fact]:
    """Say what measures count as relevant, and what random terms would get."""
    shown_measures = [measure for measure in result.measures if measure.label in shown]
    n_left_out = len(result.measures) - len(shown)
    facts = list(tell_counts(result.measures))
    facts.append(prose_fact("measures", f"{n_left_out} more in the report, in csv and in json" if n_left_out else ""))
    is_min = any(isinstance(measure, AP) and measure.norm == "min" for measure in shown_measures)
    facts.append(prose_fact("AP", "divided by the expected ids or the cutoff, whichever is less" if is_min else ""))
    cases = [case for part in result.parts.values() for case in part.cases]
    n_low = sum(min(case.relevance, default=1.0) < 1 for case in cases)
    if n_low:
        text = (
            f"{format_count(n_low, 'case')} with grades below 1: they count in graded measures; RR, Hit, R, P and AP"
            " take 1 or more as relevant"
        )
        facts.append(Fact("grades_below_1", n_low, "grades", text))
    ontology = result.settings.ontology
    kind = result.settings.kind
    max_rel = "without an ontology: the highest grade of an expected document found"
    if ontology:
        facts += [Fact("ontology", ontology), Fact("similarity", kind)]
        max_rel = f"highest similarity ({kind}) of a document found to an expected one"
    has_max_rel = any(isinstance(measure, MaxRel) for measure in result.measures)
    facts.append(prose_fact("MaxRel", max_rel if has_max_rel else ""))
    for key, means in result.chance.items():
        values = ", ".join(f"{name} {format_cell(mean)}" for name, mean in means.items() if name in shown)
        facts.append(prose_fact("chance", f"random terms, {result.parts[key]}: {values}"))
    return facts


def _of_strata(result: BenchResult, groupings: Sequence[PartStrata]) -> list[Fact]:
    """Name the columns of strata, and the strata of few cases."""
    by, parts = result.settings.by, result.parts.values()
    held = [name for name in STRATA if any(name in part.strata for part in parts)]
    told = f"cases have a {' and a '.join(held)}, by which the means can be shown" if held else ""
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
        prose_fact("strata", "" if groupings else told),
        note_fact("strata", f"{lacking}: no case has a {' and a '.join(by)}" if lacking else ""),
        Fact("small_strata", small),
        note_fact(OF_FEW, describe_small_strata(small, SMALLEST, unit="cases") if small else ""),
    ]


def _of_intervals(result: BenchResult, groupings: Sequence[PartStrata], shown: AbstractSet[str]) -> Iterator[Fact]:
    """Say how the intervals were made, and how clusters change them."""
    column = cluster_name(result.settings.cluster)
    yield Fact("cluster", column)
    intervals = [*_name_intervals(result, shown), *_name_intervals_of_strata(groupings)]
    differences = list(_name_differences(result, shown))
    clusters = "" if column is None else f"clusters ({column})"
    yield from tell_intervals(result.settings.design, intervals, differences, clusters=clusters, unit=CASE)
    if column is None:
        yield from _warn_of_shared(result)
    else:
        yield from _tell_clusters(result)


def _name_part(result: BenchResult, key: tuple[str, str]) -> str:
    """Return the words that say which part something is of; empty if there is one part."""
    return f" on {result.parts[key]}" if len(result.parts) > 1 else ""


def _name_intervals(result: BenchResult, shown: AbstractSet[str]) -> Iterator[tuple[str, str, Interval]]:
    """Give each interval of a mean that is shown behind its measure and what it is of."""
    for key, intervals in result.intervals.items():
        part = _name_part(result, key[:2])
        for measure, interval in intervals.items():
            if measure in shown:
                yield measure, f"{measure} of {key.retriever}{part}", interval


def _name_intervals_of_strata(groupings: Sequence[PartStrata]) -> Iterator[tuple[str, str, Interval]]:
    """Give each interval of a stratum behind its measure and what it is of."""
    for grouping in groupings:
        for key, intervals_of_strata in grouping.intervals.items():
            for stratum, intervals in intervals_of_strata.items():
                place = f"{key.retriever} on {grouping.part} {label(stratum)}"
                for measure, interval in intervals.items():
                    yield measure, f"{measure} of {place}", interval


def _name_differences(result: BenchResult, shown: AbstractSet[str]) -> Iterator[tuple[str, Pair]]:
    """Give each difference that is shown behind what it is of."""
    for key, comparison in result.comparisons.items():
        part = _name_part(result, key)
        for pair in comparison.pairs:
            if pair.measure in shown:
                yield f"{pair.measure} of {pair.system} - {pair.baseline}{part}", pair


def _warn_of_shared(result: BenchResult) -> Iterator[Fact]:
    """Warn of parts whose cases share expected ids, as no clusters take that into account."""
    for part in result.parts.values():
        n_cases = len(part.cases)
        n_groups = len(set(part.shared()))
        if n_groups < n_cases:
            yield note_fact(
                "clusters",
                f"the {n_cases:,} cases of {part} are not {n_cases:,} independent ones: by shared expected ids they are"
                f" {format_count(n_groups, 'group')}, and intervals are too narrow; cluster by expected_ids",
            )


def _tell_clusters(result: BenchResult) -> Iterator[Fact]:
    """Say how many clusters the cases of each part are in, and how much wider intervals are with them."""
    widths = {str(part): _widened(result, key) for key, part in result.parts.items()}
    for part in result.parts.values():
        clusters = (part.clusters(result.settings.cluster) or {}).values()
        n_clusters = len({str(cluster) for cluster in clusters})
        text = f"{part}: {format_count(len(clusters), 'case')} in {format_count(n_clusters, 'cluster')}"
        ratio = widths[str(part)]
        if ratio is not None:
            text += f"; intervals of {result.measures[0].label} are {ratio:.2f} times as wide as without"
        yield note_fact("clusters", text)
    yield Fact("width_by_clusters", widths)


def _widened(result: BenchResult, key: tuple[str, str]) -> float | None:
    """Return the factor by which clusters widen the intervals of the first measure, averaged over retrievers."""
    ratios, measure = [], result.measures[0]
    for name, evaluation in result.of_part(result.parts[key]).items():
        (alone,) = estimate_intervals([evaluation[measure]], IntervalOptions.of(vars(result.settings.design)))
        own = result.intervals[Key(*key, name)][measure.label]
        if alone.high > alone.low:
            ratios.append((own.high - own.low) / (alone.high - alone.low))
    return sum(ratios) / len(ratios) if ratios else None


def _of_tests(result: BenchResult, shown: AbstractSet[str]) -> Iterator[Fact]:
    designs = [result.settings.design, *(one.design for one in result.comparisons.values())]
    design, several = designs[-1], len(result.comparisons) > 1
    if result.comparisons:
        each = {
            key: one.pairs.where(np.isin(one.pairs.column("measure"), [*shown]))
            for key, one in result.comparisons.items()
        }
        yield from tell_tests(
            design,
            [str(result.parts[key]) if several else "" for key, own in each.items() for _ in range(len(own))],
            Pairs.joined([*each.values()]),
            has_clusters=result.settings.cluster is not None,
            unit=CASE,
            among="retrievers" if result.across else "",
            apart="set and language" if several else "",
        )
    for name, one in result.across.items():
        among = f"{AMONG} of {name}" if len(result.across) > 1 else ""
        if result.comparisons:
            yield from tell_beside(one, unit=CASE, among=among or AMONG)
        else:
            clustered = one.cluster is not None
            yield from tell_tests(design, *placed_pairs(one), has_clusters=clustered, unit=CASE, among=among)
        yield from tell_gaps(one)


def _of_cases(result: BenchResult) -> Iterator[Fact]:
    """Name cases without an expected document, retrievers that found nothing, and cases that are easy."""
    parts = result.parts.values()
    # MR leaves them out, RBPResidual is 1
    count_as_zero = all(measure.higher_is_better and measure.range[0] == 0 for measure in result.measures)
    as_zero = ", which count as 0" if count_as_zero else ""
    for part in parts:
        ids = [case.case_id for case in part.cases if not case.expected_ids]
        if ids:
            yield note_fact("nothing expected", f"{_share(part, len(ids))} ({format_list(ids)}){as_zero}")
    for part in parts:
        missing = []
        for name, evaluation in result.of_part(part).items():
            if evaluation.missing_queries:
                missing.append((evaluation.missing_queries, name))
        for case_ids, names in group_values(missing).items():  # retrievers that found nothing for the same cases
            text = f"{', '.join(names)}: for {_share(part, len(case_ids))} ({format_list(case_ids)}){as_zero}"
            yield note_fact("found nothing", text)
    n_missing = {" / ".join(key): len(evaluation.missing_queries) for key, evaluation in result.evaluations.items()}
    yield Fact("found_nothing", n_missing)
    yield Fact("verbatim", {" / ".join(key): count for key, count in result.verbatim.items()})
    for key, n_verbatim in result.verbatim.items():
        if n_verbatim:
            share = _share(result.parts[key], n_verbatim)
            text = f"{share} have the text of an expected document, ignoring case and whitespace"
            yield prose_fact("easy cases", text)


def _of_sizes(result: BenchResult) -> Iterator[Fact]:
    """Name sets that are too small for a conclusion, and say what more cases would show."""
    if result.settings.limit is not None:
        return
    parts = result.parts.values()
    small = [f"{part} ({len(part.cases)})" for part in parts if len(part.cases) < SMALL]
    if small:
        yield note_fact("few cases", f"{', '.join(small)}: good for a first look, not for a conclusion")
    for part in parts:
        n = len(part.cases)
        if n < STANDARD:
            yield prose_fact(
                "more cases",
                f"{part}: of {n:,}, a mean from 0 to 1 is known to ± {half_width(n):.2f} at worst; with"
                f" {STANDARD - n:,} more to ± {half_width(STANDARD):.2f}",
            )
    if result.comparisons:
        yield prose_fact(
            "more cases",
            "to detect a difference as large as that between best and next, which is itself uncertain: see the first"
            " table (80% power, paired t test)",
        )


def _share(part: CaseGroup, n_cases: int) -> str:
    """Return how many of the cases of a part these are, as text."""
    return f"{n_cases:,} of {format_count(len(part.cases), 'case')} of {part}"
