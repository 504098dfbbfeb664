"""The report of a benchmark: means with intervals, differences, languages, strata, and the facts below them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from itertools import chain
from typing import Any

import numpy as np

from deadheat.core import hooks
from deadheat.core.data.queries import Queries
from deadheat.core.evaluation.interval_estimates import estimate_intervals
from deadheat.core.evaluation.intervals import Interval, IntervalOptions, cluster_name
from deadheat.core.evaluation.query_columns import SMALLEST
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.stratum import NONE, Stratum, keys_of, label
from deadheat.core.measures import AP, Measure
from deadheat.core.report.cells import OF_FEW, Cell, NumberCell, bars, format_cell, p_value_cell
from deadheat.core.report.conventions import (
    as_cell,
    mean_heading,
    reported_interval,
    span_of,
    span_of_ties,
    tell_counts,
    tell_ties,
    totals_of_row,
)
from deadheat.core.report.model import (
    MEASURE,
    Column,
    Fact,
    Report,
    Row,
    Table,
    note_fact,
    prose_fact,
    summarise,
    table_of_rows,
    tabulate,
    tabulate_groups,
    warning_fact,
)
from deadheat.core.report.of_strata import few_queries
from deadheat.core.report.score_tables import level_heading
from deadheat.core.structures import group_values
from deadheat.core.wording import format_count, format_list, join_sentences
from deadheat.plugins.bench.cases import SMALL, STANDARD, half_width
from deadheat.plugins.bench.collection import STRATA, CaseGroup, families_of
from deadheat.plugins.bench.languages import base, is_code
from deadheat.plugins.bench.result import BenchResult, BenchSettings, Failure, Key, PartStrata
from deadheat.plugins.compare.comparison import KEYS, Comparison
from deadheat.plugins.compare.pair import Pairs
from deadheat.plugins.compare.report import (
    adjusted_and_skewed,
    as_data,
    as_shown,
    reported_pairs,
    reversal,
    tell_intervals,
    tell_tests,
)
from deadheat.plugins.compare.verdict import Verdict
from deadheat.plugins.compare.verdict_facts import describe_strata, headline_of_strata
from deadheat.plugins.languages.beside import LanguagesBeside
from deadheat.plugins.languages.report import (
    AMONG,
    data_of_languages,
    facts_of_languages,
    list_languages,
    placed_pairs,
    tell_beside,
    tell_gaps,
    tell_languages,
)
from deadheat.plugins.languages.verdict import sentences_of_languages
from deadheat.plugins.more_measures.largest import MaxRel
from deadheat.version import __version__

RETRIEVER = Column("retriever", "retriever", is_name=True)
FEW, MANY = 3, 20  # failed cases of each retriever: on a screen, and in a file
SHOWN = 6  # failed cases of all retrievers together on a screen, where each still has one
SPOKEN = 2  # parts whose verdicts are said one by one
CASE = ("case", "cases")

SURE = {  # whether a lead is more than chance, by the outcome of the verdict
    "better": "yes",
    "not shown": "not shown",
    "undecided": "undecided",
    "in doubt": "undecided",
    "few": "too few",
    "one query": "too few",
    "contradicted": "no",
    **dict.fromkeys(("equal", "same mean", "shared", "none"), "no lead"),
}
MOST_ROWS = 4  # measures of differences on a screen: more hide what is to be seen


def report_bench(result: BenchResult, *, full: bool = True) -> Report:
    """Return the report of a benchmark for people.

    Parameters
    ----------
    result : BenchResult
    full : bool, default True
        Whether it has all measures and the strata of every column; else those without a cutoff, and of each kind the
        deepest one, and strata only of what was asked for.
    """
    main, by, margin = main_of(result.measures), result.settings.by, result.settings.margin
    columns = [by] if by else [(name,) for name in STRATA] if full else []
    few = main if full or len(main) <= MOST_ROWS else headline(result.measures)
    of_strata = few if by else main[:2]
    groupings = [one.select(of_strata) for names in columns for one in result.groupings(names)]
    shown = result.measures if full else few if by else main
    names, codes = (set(keys) for keys in zip(*result.parts, strict=True))
    several = len(names) > 1 or NONE in codes
    tables = [
        *list_answers(
            {f"{result.parts[key]}" if several else key[1]: one for key, one in result.comparisons.items()},
            "cases" if several else "language",
        ),
        *(_means(result, part, shown) for part in result.parts.values()),
        *(_differences(result, result.parts[key], {"": one}, few) for key, one in result.comparisons.items()),
        *(
            table
            for one in result.across.values()
            for table in list_languages(
                one,
                shown,
                tested=main,
                system=RETRIEVER,
                margin=margin,
                unit=CASE,
                most=None if full else 12,  # rows of differences on a screen
            )
        ),
        *_averages(result, shown),
        *(_strata(one, of_strata, _level(result)) for one in groupings),
        *(
            _differences(result, one.part, result.by_strata(one.part), of_strata, by)
            for one in groupings
            if by and (full or len(result.retrievers) == 2)  # with more retrievers, a screen has only the means
        ),
        *(
            table
            for part in result.parts.values()
            for table in list_failures(str(part), len(part.cases), _failures(result, part), full=full)
        ),
    ]
    first, summary, verdict = _verdicts(result)
    return Report(
        tuple(filter(None, tables)),
        (Fact("deadheat", __version__), verdict, *tell(result, groupings, shown=shown)),
        f"{', '.join(result.retrievers)} on {', '.join(map(str, result.parts.values()))}" if full else "",
        headline=first,
        opening=_language_verdicts(result)[0],
        summary=summary,
    )


def data_of_bench(result: BenchResult) -> Report:
    """Return the report of a benchmark for programs: tables of all means and differences; those of strata first."""
    counts, by = {one.label for one in result.measures if one.total}, result.settings.by
    groupings = result.groupings(by) if by else ()
    found: list[tuple[str, tuple[str, ...], list[dict[str, Any]]]] = [
        (
            "strata",
            ("cases", "language", "retriever", *by, "measure"),
            [
                {**key._asdict(), **row}
                for one in groupings
                for key, strata in one.strata.items()
                for row in strata.summary(**vars(result.interval_options(one.part)))
                .rename({"n_queries": "n_cases"})
                .to_dicts()
            ],
        ),
        (
            "means",
            ("cases", "language", "retriever", "measure"),
            [totals_of_row(row, counts, row["n_cases"]) for row in result.to_polars().to_dicts()],
        ),
        (
            "comparisons",
            ("cases", "language", "system", "baseline", "measure"),
            [
                {"cases": cases, "language": language, **totals_of_row(row, counts, row["n_queries"])}
                for (cases, language), comparison in result.comparisons.items()
                for row in comparison.to_polars(details=True).to_dicts()
            ],
        ),
        (
            "averages",
            ("retriever", "measure"),
            [row for row in result.averages().to_dicts() if row["measure"] not in counts],
        ),
        (
            "strata_comparisons",
            ("cases", "language", *by, "system", "baseline", "measure"),
            [
                {
                    **dict(zip(("cases", "language", *by), (*one.part.key, *keys_of(stratum)), strict=True)),
                    **totals_of_row(row, counts, row["n_queries"]),
                }
                for one in groupings
                for stratum, comparison in result.by_strata(one.part).items()
                for row in comparison.to_polars(details=True).to_dicts()
            ],
        ),
    ]
    return Report(
        (
            *(table_of_rows(*one) for one in found if one[2]),
            *data_of_languages(result.across, leading=Column("cases", "cases"), margin=result.settings.margin),
        ),
        (
            _verdicts(result)[-1],
            _language_verdicts(result)[1],
            Fact("deadheat", __version__),
            *tell(result, groupings),
            Fact("failures", result.failed()),
        ),
    )


def _columns(names: Iterable[str]) -> tuple[Column, ...]:
    return tuple(Column(name, name) for name in names)


def _level(result: BenchResult, counts: Iterable[int] = ()) -> str:
    return level_heading(result.settings.design.confidence_level, set(counts))


def list_answers(comparisons: Mapping[str, Comparison], heading: str) -> Iterator[Table]:
    """Give the table of who is best in each comparison, whether by more than chance, and how many cases would show it.

    Parameters
    ----------
    comparisons : mapping of str to Comparison
    heading : str
        What their names are.
    """
    found: list[dict[str, Any]] = []
    for name, comparison in comparisons.items():
        needed = {tuple(row[key] for key in KEYS): row["n_needed"] for row in comparison.sample_sizes().to_dicts()}
        for measure in headline(comparison.measures):
            one = comparison.judge(measure=measure, unit=CASE)
            n = needed.get((one.measure, one.system, one.baseline))
            found.append(
                {
                    **vars(one),
                    "cases": name,
                    "best": one.leader or "nobody",
                    "mean": comparison.evaluations[one.leader][measure].reported() if one.leader else None,
                    "next": one.runner_up or "-",
                    "sure": SURE[one.outcome],
                    "more": None if n is None else max(0, n - one.n_queries),
                }
            )
    if found:
        yield tabulate(
            "answers",
            (Column("cases", heading), MEASURE),
            (
                Column("best", "best", is_name=True),
                Column("mean", "mean", spare=2),
                Column("next", "next", is_name=True),
                Column("difference", "difference", spare=1),
                Column("p_adjusted", "p adj", lambda row: p_value_cell(row["p_adjusted"])),
                Column("sure", "sure"),
                Column("more", "more cases"),
            ),
            found,
            title="Which retriever is best",
            is_section=True,
        )


def tables_of_page(
    part: str, comparison: Comparison | None, n_cases: int, failures: Mapping[str, Sequence[Failure]]
) -> tuple[Table, ...]:
    """Return what a page says of a part below its verdict: the answers, and all failures that a file has."""
    return (
        *list_answers({} if comparison is None else {part: comparison}, "cases"),
        *list_failures(part, n_cases, failures, full=True),
    )


def _means(result: BenchResult, part: CaseGroup, measures: Sequence[Measure]) -> Table:
    """Each measure of each retriever with its interval."""
    found = [(one, result.intervals[Key(*part.key, name)]) for name, one in result.of_part(part).items()]
    counts = {intervals[one.label].n_queries for _, intervals in found for one in measures}
    return Table(
        "means",
        (MEASURE,),
        columns=(
            Column("n_queries", "cases", is_data=len(counts) == 1),
            Column("mean", mean_heading(measures)),
            Column("ci", _level(result, counts)),
            Column("ties", "tie orders", ends=("tie_min", "tie_max"), spare=1),
        ),
        rows=tuple(
            Row(
                (one.label,),
                tuple(
                    (*_mean(evaluation[one.label], intervals[one.label]), span_of_ties(evaluation[one.label]))
                    for evaluation, intervals in found
                ),
            )
            for one in measures
        ),
        groups=result.retrievers,
        group=RETRIEVER,
        title=f"{part}: {format_count(len(part.cases), 'case')}",
        main=1,
        is_section=True,
    )


def _mean(scores: Scores, interval: Interval, smallest: int = 0) -> tuple[Cell, Cell, Cell]:
    """Return the number of cases, a mean, marked if it is of few, and its interval."""
    mean = NumberCell(scores.reported(), marks=OF_FEW) if scores.n_queries < smallest else as_cell(scores)
    return interval.n_queries, mean, span_of(reported_interval(scores, interval))


def _differences(
    result: BenchResult,
    part: CaseGroup,
    found: Mapping[Stratum, Comparison],
    measures: Sequence[Measure],
    by: tuple[str, ...] = (),
) -> Table | None:
    """Each pair of retrievers with its difference, and how sure it is; within strata in their order."""
    baseline = result.settings.design.baseline
    pairs = [
        (stratum, pair)
        for stratum, comparison in found.items()
        for measure in measures
        for pair in reported_pairs(as_shown(comparison), measure)
    ]
    if not pairs:
        return None
    counts = {pair.n_queries for _, pair in pairs}
    totals = {one.label for one in measures if one.total}  # of another scale: they are not drawn
    drawn = [pair for _, pair in pairs if pair.measure not in totals]
    spans = bars([span_of(pair) for pair in drawn], [pair.difference for pair in drawn])
    bar_of = dict(zip(drawn, spans, strict=True))
    among = f"{part} by {' and '.join(by)}" if by else f"{part}"
    return Table(
        "strata_pairs" if by else "pairs",
        (
            *_columns(by),
            MEASURE,
            Column("system", "retriever", is_name=True),
            *(() if baseline else (Column("baseline", "against", is_name=True),)),
        ),
        columns=(
            Column("n_queries", "cases", spare=0 if by else 1, is_data=len(counts) == 1 and not by),
            Column("difference", "difference"),
            Column("ci", _level(result, () if by else counts), spare=1),
            *(() if by else (Column("bar", "", spare=4),)),
            Column("p_adjusted", "p" if result.settings.design.test == "tukey" else "p adj"),
            Column("flip_probability", "ties reverse", spare=3),
            Column("wins", "wins", spare=2),
            Column("losses", "losses", spare=2),
        ),
        rows=tuple(
            Row(
                (*(keys_of(stratum) if by else ()), pair.measure, pair.system, *(() if baseline else (pair.baseline,))),
                (
                    (
                        pair.n_queries,
                        pair.difference,
                        span_of(pair),
                        *(() if by else (bar_of.get(pair),)),
                        adjusted_and_skewed(pair),
                        reversal(pair),
                        pair.wins,
                        pair.losses,
                    ),
                ),
            )
            for stratum, pair in pairs
        ),
        title=f"{among}: differences" + (f" from {baseline}" if baseline else ""),
        main=1,
        has_blocks=bool(by),
        is_section=True,
        is_extra=not by,
    )


def _averages(result: BenchResult, measures: Sequence[Measure]) -> Iterator[Table]:
    """Each measure of each retriever across languages; totals cannot be averaged."""
    if len(result.families) == 1 and result.families[0].covers(result.parts.values()):
        return  # its table has the same means
    frame, measures = result.averages(), [one for one in measures if not one.total]
    if frame.is_empty() or not measures:
        return
    found = {(row["retriever"], row["measure"]): row for row in frame.iter_rows(named=True)}
    without = ", ".join(str(part) for part in result.parts.values() if part.language == NONE)
    left_out = f"; without {without}, of no language" if without else ""
    yield tabulate_groups(
        "averages",
        (MEASURE,),
        (
            Column("mean", "mean of languages"),
            Column("variance", "variance"),
            Column("std", "std", spare=2),
            Column("lowest", "lowest", spare=1),
            Column("highest", "highest", spare=1),
        ),
        [((one.label,), [found[name, one.label] for name in result.retrievers]) for one in measures],
        result.retrievers,
        group=RETRIEVER,
        title=f"Across {len(result.languages)} languages ({frame['pooled'][0]}{left_out})",
        is_section=True,
    )


def _strata(grouping: PartStrata, measures: Sequence[Measure], level: str) -> Table:
    """Each measure by the values of columns."""
    return Table(
        "strata",
        (*_columns(grouping.columns), MEASURE),
        columns=(Column("n_queries", "cases"), Column("mean", "mean"), Column("ci", level)),
        rows=tuple(
            Row(
                (*keys_of(stratum), one.label),
                tuple(
                    _mean(strata[stratum][one.label], grouping.intervals[key][stratum][one.label], strata.smallest)
                    for key, strata in grouping.strata.items()
                ),
            )
            for stratum in next(iter(grouping.strata.values()))
            for one in measures
        ),
        groups=tuple(key.retriever for key in grouping.strata),
        group=RETRIEVER,
        title=str(grouping),
        main=1,
        has_blocks=True,
        is_section=True,
    )


def _failures(result: BenchResult, part: CaseGroup) -> dict[str, tuple[Failure, ...]]:
    """Return the cases of a part that each retriever failed, the worst first."""
    return {name: result.failures.get(Key(*part.key, name), ()) for name in result.retrievers}


def list_failures(part: str, n_cases: int, found: Mapping[str, Sequence[Failure]], *, full: bool) -> Iterator[Table]:
    """Give the table of a part's failures by retriever, if there are any: few for a screen, many for a file."""
    most = MANY if full else min(FEW, max(1, SHOWN // len(found)))
    rows = [{"retriever": name, **vars(one), "one": one} for name, failed in found.items() for one in failed[:most]]
    has_lines = any(row["line"] for row in rows)
    names = [Column("case_id", "case")] if full or not has_lines else []
    lines = [Column("line", "line", lambda row: f"{row['line'] or ''}")] if has_lines else []
    of_file = (
        Column("text", "text"),
        Column("expected", "expected", lambda row: "; ".join(map(str, row["expected"]))),
        Column("above", "above it", lambda row: _above(row["one"])),
    )
    words = of_file if full else (Column("words", "what stood above it", lambda row: _words(row["one"])),)
    counts = ", ".join(f"{len(failed):,} by {name}" for name, failed in found.items())
    if rows:
        yield tabulate(
            "failures",
            (RETRIEVER, *names, *lines),
            (Column("rank", "rank", lambda row: row["one"].rank), *words),
            rows,
            title=f"{part}: cases without an expected document first ({counts} of {n_cases:,}), the worst",
            is_section=True,
        )


def _above(one: Failure) -> str:
    more = one.n_above - len(one.above)
    return "; ".join(map(str, one.above)) + (f"; and {more:,} more" if more else "")


def _words(one: Failure) -> str:
    """Return text, expected document, and what stood above it, as a sentence."""
    others = f" (and {len(one.expected) - 1} more)" if len(one.expected) > 1 else ""
    return f"{one.text!r} expects {one.best or one.expected[0]}{others}: {_above(one) or 'nothing found'}"


def _language_verdicts(result: BenchResult) -> tuple[str, Fact]:
    """Return the verdict of each set whose languages are paired, as text and for JSON."""
    found = {
        name: sentences_of_languages(
            one, unit=CASE, margin=result.settings.margin, name=name if len(result.across) > 1 else ""
        )
        for name, one in result.across.items()
    }
    return join_sentences(*chain.from_iterable(found.values())), Fact(
        "language_verdicts", {name: list(own) for name, own in found.items()}
    )


def _verdicts(result: BenchResult) -> tuple[str, tuple[Fact, ...], Fact]:
    """Return the headline, the verdict of each part as facts, and all for JSON; those of many parts are summed up."""
    by_measure = []
    for measure in headline(result.measures):
        verdicts = {}
        for key, comparison in result.comparisons.items():
            verdicts[str(result.parts[key])] = comparison.judge(measure=measure, unit=CASE)
        by_measure.append(verdicts)
    first, *near_misses = by_measure
    if not first:
        return "", (), Fact("verdict", None)
    parts = ("language of a set", "languages of sets")
    top = headline_of_strata(first, parts) if len(first) > 1 else next(iter(first.values())).headline
    summary: list[Fact] = []
    for verdicts in by_measure:
        summary += _summary_of_parts(verdicts, parts, in_full=verdicts is first)
    data = {
        "text": "\n".join([top, *(fact.sentence for fact in summary)]),
        "headline": top,
        "parts": {part: as_data(verdict) for part, verdict in first.items()},
    }
    if near_misses:
        data["near_misses"] = {part: as_data(verdict) for own in near_misses for part, verdict in own.items()}
    return top, tuple(summary), Fact("verdict", data)


def _summary_of_parts(verdicts: Mapping[str, Verdict], parts: tuple[str, str], *, in_full: bool) -> list[Fact]:
    """Return the verdicts by one measure as facts: of one part its own, of a few one each, of many who leads where."""
    if len(verdicts) > SPOKEN:
        return list(summarise(describe_strata(verdicts, parts)))
    if len(verdicts) == 1 and in_full:
        return list(summarise(next(iter(verdicts.values())).facts))
    facts = []
    for part, verdict in verdicts.items():
        texts = [verdict.headline]
        if in_full:
            texts += [f"{label} {text}" for label, text in verdict.facts.items()]
        facts.append(prose_fact(part, "; ".join(texts)))
    return facts


def page_of_bench(result: BenchResult) -> str:
    """Return the page of a benchmark; its runs are not at hand, so there are no rankings."""
    by = result.settings.by
    page = hooks.service("page")
    subjects = [
        page.Subject(
            name=str(part) if len(result.parts) > 1 else "",
            evaluations=result.of_part(part),
            comparison=result.comparisons.get(key),
            qrels=str(part),
            queries=Queries(part.cases.queries()),
            groupings=(by,) if by and set(by) <= set(part.strata) else (),
            names=result.names.get(key, {}),
            tables=tables_of_page(
                str(part),
                result.comparisons.get(key),
                len(part.cases),
                _failures(result, part),
            ),
        )
        for key, part in result.parts.items()
    ]
    made: str = page.page_of(
        subjects,
        companions=[LanguagesBeside(one) for one in result.across.values()],
        margin=result.settings.margin,
        facts=report_bench(result).shown,
    )
    return made


def main_of(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """Return the measures of a short report: those without a cutoff, and the deepest of each kind."""
    if len(measures) <= 8:
        return tuple(measures)
    cutoffs = group_values((uncut(one), cutoff_of(one)) for one in measures)
    return tuple(one for one in measures if max(cutoffs[uncut(one)]) == cutoff_of(one))


def headline(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """Return the measures that answer: the first of quality, and the deepest MaxRel, which counts near misses."""
    first = next((one for one in measures if one.is_quality), measures[0])
    return tuple(dict.fromkeys((first, *[one for one in main_of(measures) if isinstance(one, MaxRel)][-1:])))


def cutoff_of(measure: Measure) -> int:
    """Return the cutoff of a measure; 0 if it has none."""
    return getattr(measure, "cutoff", None) or 0


def uncut(measure: Measure) -> Measure:
    """Return a measure without its cutoff."""
    return measure(cutoff=None) if hasattr(measure, "cutoff") else measure


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
    labels = {one.label for one in shown or result.measures}
    settings = result.settings
    first = f"only the first {format_count(settings.limit or 0, 'case')} of each set and language"
    apart = f"{', '.join(result.languages)}: each evaluated by itself; in a mean over languages, each counts the same"
    found = [
        warning_fact("WARNING", "" if settings.limit is None else f"{first}: a quick look, not a result"),
        Fact("limit", settings.limit),
        Fact("collection", settings.collection, "documents", f"{settings.n_documents:,} in {settings.collection}"),
        Fact("k", settings.k, "searched", f"the best {settings.k:,} of each retriever, and all that tie with the last"),
        Fact(
            "systems",
            dict(settings.systems),
            "retrievers",
            "; ".join(f"{name} is {what}" for name, what in settings.systems.items() if what != "BM25"),
        ),
        Fact("languages", list(result.languages), "languages", apart if len(result.languages) > 1 else ""),
        Fact("collection_languages", {"languages": list(settings.spoken), "is_guess": settings.is_guess}),
        *_of_searched_languages(result),
        Fact("assumed", list(settings.assumed)),
        *(note_fact("assumed", one) for one in settings.assumed),
        Fact("words", dict(settings.words)),
        *_of_words(settings),
        note_fact("not parallel", families_of(list(result.parts.values()))[1]),
        *chain.from_iterable(tell_languages(one, unit=CASE, margin=settings.margin) for one in result.across.values()),
        *(
            note_fact(
                "paired",
                f"{family.name}: {format_count(len(unlike), 'pair id')} with other expected ids in one language than in"
                f" another ({format_list(unlike)}): they do not ask for the same",
            )
            for family in result.families
            if (unlike := family.unlike)
        ),
        *(facts_of_languages(result.across) if result.across else ()),
        Fact("margin", settings.margin),
        *tell_ties("expected", None),
        *_of_measures(result, labels),
        *_of_strata(result, groupings),
        *_of_intervals(result, groupings, labels),
        *_of_tests(result, labels),
        *_of_cases(result),
        Fact("answers", result.list_answers()),
        Fact("notes", list(result.notes)),
        *(note_fact("note", one) for one in result.notes),
    ]
    return [one for one in found if one.key or one.text]


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
    left_out = len(result.measures) - len(shown)
    ontology, kind = result.settings.ontology, result.settings.kind
    is_min = any(isinstance(one, AP) and one.norm == "min" for one in result.measures if one.label in shown)
    low = sum(min(case.relevance, default=1.0) < 1 for part in result.parts.values() for case in part.cases)
    graded = f"{format_count(low, 'case')} with grades below 1: they count in graded measures; RR, Hit, R, P and AP"
    max_rel = (
        f"highest similarity ({kind}) of a document found to an expected one"
        if ontology
        else "without an ontology: the highest grade of an expected document found"
    )
    return [
        *tell_counts(result.measures),
        prose_fact("measures", f"{left_out} more in the report, in csv and in json" if left_out else ""),
        prose_fact("AP", "divided by the expected ids or the cutoff, whichever is less" if is_min else ""),
        *([Fact("grades_below_1", low, "grades", f"{graded} take 1 or more as relevant")] if low else ()),
        *([Fact("ontology", ontology), Fact("similarity", kind)] if ontology else ()),
        prose_fact("MaxRel", max_rel if any(isinstance(one, MaxRel) for one in result.measures) else ""),
        *(
            prose_fact(
                "chance",
                f"random terms, {result.parts[key]}: "
                + ", ".join(f"{name} {format_cell(mean)}" for name, mean in means.items() if name in shown),
            )
            for key, means in result.chance.items()
        ),
    ]


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
        note_fact(OF_FEW, few_queries(small, SMALLEST, unit="cases") if small else ""),
    ]


def _of_intervals(result: BenchResult, groupings: Sequence[PartStrata], shown: AbstractSet[str]) -> Iterator[Fact]:
    """Say how the intervals were made, and how clusters change them."""
    design, cluster = result.settings.design, result.settings.cluster
    column = cluster_name(cluster)
    yield Fact("cluster", column)
    on = {key: f" on {part}" if len(result.parts) > 1 else "" for key, part in result.parts.items()}
    found = [
        (measure, f"{measure} of {key.retriever}{on[key[:2]]}", one)
        for key, own in result.intervals.items()
        for measure, one in own.items()
        if measure in shown
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
        if pair.measure in shown
    ]
    yield from tell_intervals(
        design, found, differences, clusters="" if column is None else f"clusters ({column})", unit=CASE
    )
    for part in result.parts.values() if column is None else ():
        n_cases, n_groups = len(part.cases), len(set(part.shared()))
        if n_groups < n_cases:
            yield note_fact(
                "clusters",
                f"the {n_cases:,} cases of {part} are not {n_cases:,} independent ones: by shared expected ids they are"
                f" {format_count(n_groups, 'group')}, and intervals are too narrow; cluster by expected_ids",
            )
    if column is None:
        return
    widths = {str(part): _widened(result, key) for key, part in result.parts.items()}
    for part in result.parts.values():
        clusters, ratio = (part.clusters(cluster) or {}).values(), widths[str(part)]
        text = (
            f"{part}: {format_count(len(clusters), 'case')} in"
            f" {format_count(len({str(one) for one in clusters}), 'cluster')}"
        )
        times = f"; intervals of {result.measures[0].label} are {ratio or 0:.2f} times as wide as without"
        yield note_fact("clusters", text + times * (ratio is not None))
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


def _of_cases(result: BenchResult) -> list[Fact]:
    """Name retrievers that found nothing, and sets that are too small for a conclusion."""

    def share(part: CaseGroup, number: int) -> str:
        return f"{number:,} of {format_count(len(part.cases), 'case')} of {part}"

    easy, parts = "have the text of an expected document, ignoring case and whitespace", result.parts.values()
    small = ", ".join(f"{part} ({len(part.cases)})" for part in parts if len(part.cases) < SMALL)
    is_whole = result.settings.limit is None
    to_detect = (
        "to detect a difference as large as that between best and next, which is itself uncertain: see the first table"
        " (80% power, paired t test)"
    )
    # MR leaves them out, RBPResidual is 1
    as_zero = ", which count as 0" * all(one.higher_is_better and one.range[0] == 0 for one in result.measures)
    bare = [(part, [case.case_id for case in part.cases if not case.expected_ids]) for part in parts]
    return [
        *(
            note_fact("nothing expected", f"{share(part, len(ids))} ({format_list(ids)}){as_zero}")
            for part, ids in bare
            if ids
        ),
        *(
            note_fact("found nothing", f"{', '.join(names)}: for {share(part, len(ids))} ({format_list(ids)}){as_zero}")
            for part in parts
            for ids, names in group_values(
                (one.missing_queries, name) for name, one in result.of_part(part).items() if one.missing_queries
            ).items()  # retrievers that found nothing for the same cases are named together
        ),
        Fact("found_nothing", {" / ".join(key): len(one.missing_queries) for key, one in result.evaluations.items()}),
        Fact("verbatim", {" / ".join(key): count for key, count in result.verbatim.items()}),
        *(prose_fact("easy cases", f"{share(result.parts[key], n)} {easy}") for key, n in result.verbatim.items() if n),
        note_fact("few cases", f"{small}: good for a first look, not for a conclusion" if small and is_whole else ""),
        *(
            prose_fact(
                "more cases",
                f"{part}: of {n:,}, a mean from 0 to 1 is known to ± {half_width(n):.2f} at worst; with"
                f" {STANDARD - n:,} more to ± {half_width(STANDARD):.2f}",
            )
            for part in parts
            if is_whole and (n := len(part.cases)) < STANDARD
        ),
        prose_fact("more cases", to_detect if is_whole and result.comparisons else ""),
    ]


def subjects_of(result: BenchResult) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield what figures are drawn of: each set and each language by itself, and its strata."""
    several = len(result.parts) > 1
    before = {key: "".join(f"{name}-" for name in key if several and name != NONE) for key in result.parts}
    for key, part in result.parts.items():
        options = {} if key in result.comparisons else {"options": result.interval_options(part)}
        yield before[key], result.comparisons.get(key, result.of_part(part)), options
    for name, across in result.across.items():
        yield f"{name}-" if len(result.across) > 1 else "", across, {}
    for one in result.groupings(result.settings.by) if result.settings.by else ():
        yield (
            before[one.part.key],
            {key.retriever: strata for key, strata in one.strata.items()},
            {"options": result.interval_options(one.part)},
        )
