"""What the report of a benchmark says of single cases: those that failed; and the verdict of each part."""

from __future__ import annotations

from collections.abc import Iterator

from deadheat.benchmark.failures import Failure
from deadheat.benchmark.result import Key, Results
from deadheat.comparison.languages import judge_languages
from deadheat.comparison.verdict import judge_strata
from deadheat.report.model import Column, Fact, Row, Table
from deadheat.report.of_comparison import as_data
from deadheat.wording import joined

FEW, MANY = 3, 20  # cases of each retriever: on a screen, and in a file
SPOKEN = 2  # parts whose verdicts are said one by one
CASE = ("case", "cases")
RETRIEVER, CASE_ID = Column("retriever", "retriever"), Column("case_id", "case")


def list_failures(result: Results, *, full: bool) -> Iterator[Table]:
    """Give the cases of each part that a retriever failed, the worst first: few for a screen, many for a file."""
    most = MANY if full else FEW
    columns = (
        Column("rank", "rank"),
        *((Column("text", "text"), Column("expected", "expected"), Column("above", "above it")) if full else ()),
        *(() if full else (Column("words", "what stood above it"),)),
    )
    for key, part in result.parts.items():
        found = {name: result.failures.get(Key(*key, name), ()) for name in result.retrievers}
        rows = tuple(
            Row((name, one.case_id), ((one.rank, *(_columns(one) if full else [_words(one)])),))
            for name, failed in found.items()
            for one in failed[:most]
        )
        if rows:
            counts = ", ".join(f"{len(failed):,} by {name}" for name, failed in found.items())
            title = f"{part}: cases without an expected document first ({counts} of {len(part.cases):,}), the worst"
            yield Table("failures", (RETRIEVER, CASE_ID), columns, rows, title=title, is_section=True)


def _columns(one: Failure) -> tuple[str, ...]:
    return one.text, "; ".join(map(str, one.expected)), _above(one)


def _above(one: Failure) -> str:
    more = one.n_above - len(one.above)
    return "; ".join(map(str, one.above)) + (f"; and {more:,} more" if more else "")


def _words(one: Failure) -> str:
    expected = one.expected[0] if one.best is None else one.best
    more = f" (and {len(one.expected) - 1} more)" if len(one.expected) > 1 else ""
    above = _above(one) or "nothing found"
    return f"{one.text!r} expects {expected}{more}: {above}"


def tell_failures(result: Results) -> Iterator[Fact]:
    """Give all failures for JSON."""
    found = [
        {"cases": key.cases, "language": key.language, "retriever": key.retriever, **one.to_dict()}
        for key, failed in result.failures.items()
        for one in failed
    ]
    yield Fact("failures", found)


def tell_language_verdicts(result: Results) -> tuple[str, Fact]:
    """Return the verdict of each set whose languages are paired, as text and for JSON."""
    several = len(result.across) > 1
    found = {
        name: judge_languages(one, unit=CASE, margin=result.settings.margin, name=name if several else "")
        for name, one in result.across.items()
    }
    said = joined(*(sentence for own in found.values() for sentence in own))
    return said, Fact("language_verdicts", {name: list(own) for name, own in found.items()})


def tell_verdicts(result: Results) -> tuple[str, Fact]:
    """Return the verdict of each part, as text and for JSON; those of many parts are summed up."""
    found = {str(result.parts[key]): one.judge(unit=CASE) for key, one in result.comparisons.items()}
    if not found:
        return "", Fact("verdict", None)
    if len(found) == 1:
        said = str(next(iter(found.values())))
    elif len(found) <= SPOKEN:
        said = " ".join(f"{part}: {one}" for part, one in found.items())
    else:
        said = " ".join(judge_strata(found, ["set and language"]))
    return said, Fact("verdict", {"text": said, "parts": {part: as_data(one) for part, one in found.items()}})
