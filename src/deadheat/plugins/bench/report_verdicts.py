"""Who is best in each part of a benchmark, in words."""

from collections.abc import Mapping
from itertools import chain

from deadheat.core.report.model import Fact, prose_fact, summarise
from deadheat.core.wording import join_sentences
from deadheat.plugins.bench.report_measures import headline
from deadheat.plugins.bench.result import BenchResult
from deadheat.plugins.compare.report import as_data
from deadheat.plugins.compare.verdict import Verdict
from deadheat.plugins.compare.verdict_facts import describe_strata, headline_of_strata
from deadheat.plugins.languages.verdict import sentences_of_languages

SPOKEN = 2  # parts whose verdicts are said one by one
CASE = ("case", "cases")


def tell_language_verdicts(result: BenchResult) -> tuple[str, Fact]:
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


def tell_verdicts(result: BenchResult) -> tuple[str, tuple[Fact, ...], Fact]:
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
