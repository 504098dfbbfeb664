"""The table of a paper: systems in rows, measures in columns, the best bold, and marks of significance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import PurePath

from deadheat import arguments
from deadheat.comparison.comparison import Comparison
from deadheat.comparison.pairs import TUKEY, Pair
from deadheat.comparison.verdict import doubt, favoured
from deadheat.evaluation.strata import keys_of
from deadheat.measures import Measure
from deadheat.report.conventions import broken_by
from deadheat.report.model import Cell, Column, Ranked, Report, Row, Table
from deadheat.report.numbers import format_cell
from deadheat.report.of_comparison import CORRECTIONS, TESTS, report_comparison
from deadheat.report.of_systems import SYSTEM, best_first
from deadheat.report.totals import reported
from deadheat.wording import counted

BETTER, WORSE, DOUBT = "†", "‡", "?"
LOWER = "↓"  # behind a measure of which less is better
LETTER = Column("letter", "")
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
Strata = Mapping[str | tuple[str, ...], Comparison]


def report_compact(
    comparison: Comparison,
    *,
    qrels: str,
    columns: Sequence[str] = (),
    strata: Strata | None = None,
    margin: float | None = None,
    digits: int | None = None,
) -> Report:
    """Return a comparison as one table, with the verdict above and a caption that explains it.

    Parameters
    ----------
    comparison : Comparison
    qrels : str
        The name of the qrels.
    columns : sequence of str
        What `strata` are of.
    strata : mapping of stratum to Comparison, optional
        Shown instead of the whole.
    margin : float, optional
        What the verdict says is tested against.
    digits : int, optional
        Decimals that will be printed: values that look alike are both bold if one is the best.
    """
    whole = report_comparison(comparison, qrels=qrels, columns=columns, strata=strata, for_people=False, margin=margin)
    table = compact(comparison, qrels=qrels, columns=columns, strata=strata, digits=digits)
    facts = tuple(fact for fact in whole.facts if not fact.text or fact.is_note or fact.is_warning)
    return Report((table,), facts, opening=whole.opening)


def compact(
    comparison: Comparison,
    *,
    qrels: str,
    columns: Sequence[str] = (),
    strata: Strata | None = None,
    digits: int | None = None,
) -> Table:
    """Return the table alone; the arguments are those of :func:`report_compact`."""
    parts: Strata | Mapping[tuple[()], Comparison] = {(): comparison} if strata is None else strata
    names = best_first(comparison, comparison.measures[0])
    has_letters = comparison.design.baseline is None and len(names) > 1
    letters = dict(zip(names, _letters(len(names)), strict=True)) if has_letters else {}
    rows = []
    for stratum, part in parts.items():
        found = [_column(part, measure, names, letters, digits) for measure in part.measures]
        own = zip(*found, strict=True)
        rows += [
            Row((*keys_of(stratum), *([letters[name]] if letters else []), name), (tuple(cells),))
            for name, cells in zip(names, own, strict=True)
        ]
    marks = "".join(cell.marks for row in rows for cell in row.cells[0] if isinstance(cell, Ranked))
    leading = tuple(Column(name, name) for name in columns)
    return Table(
        "comparison",
        (*leading, *([LETTER] if letters else []), SYSTEM),
        tuple(Column(one.label, _heading(one)) for one in comparison.measures),
        tuple(rows),
        caption=" ".join(_caption(comparison, list(parts.values()), qrels, columns, marks)),
        main=-1,  # none: the bold ones matter
        has_blocks=strata is not None,
    )


def _heading(measure: Measure) -> str:
    return measure.label if measure.higher_is_better else f"{measure.label} {LOWER}"


def _column(
    part: Comparison, measure: Measure, names: Sequence[str], letters: Mapping[str, str], digits: int | None
) -> list[Cell]:
    """Return the value of each system by one measure, the best marked, and what it is shown to be better than."""
    values = {name: reported(part.evaluations[name][measure]) for name in names}
    known = [value for value in values.values() if measure.is_quality and not math.isnan(value)]
    best = (max if measure.higher_is_better else min)(known) if known else math.nan
    shown = format_cell(best, digits)
    marks = _marks(part, measure, names, letters)
    room = max(map(len, marks.values()), default=0)
    return [
        None
        if math.isnan(value)
        else Ranked(value, is_best=format_cell(value, digits) == shown, marks=marks[name], room=room)
        for name, value in values.items()
    ]


def _marks(part: Comparison, measure: Measure, names: Sequence[str], letters: Mapping[str, str]) -> dict[str, str]:
    """Return the marks of each system: daggers against the baseline, or the letters of those that it beats."""
    own = [pair for pair in part.pairs if pair.measure == measure.label and measure.is_quality]
    if not letters:
        return dict.fromkeys(names, "") | {pair.system: _dagger(pair, measure, part) for pair in own}
    beaten: dict[str, list[tuple[str, str]]] = {name: [] for name in names}
    for pair in own:
        winner = favoured(pair, measure, part.design)
        if winner is not None:
            loser = pair.baseline if winner == pair.system else pair.system
            beaten[winner].append((loser, DOUBT if doubt(pair, part.design) else ""))
    order = {name: place for place, name in enumerate(letters)}
    return {name: _ranges([(order[loser], sure) for loser, sure in found], letters) for name, found in beaten.items()}


def _dagger(pair: Pair, measure: Measure, part: Comparison) -> str:
    winner = favoured(pair, measure, part.design)
    if winner is None:
        return ""
    return (BETTER if winner == pair.system else WORSE) + (DOUBT if doubt(pair, part.design) else "")


def _ranges(found: Sequence[tuple[int, str]], letters: Mapping[str, str]) -> str:
    """Return letters in order, three and more neighbours as a range: ``acf-k``; those in doubt have a question mark."""
    named = list(letters.values())
    between = "" if len(named) <= len(ALPHABET) else ","
    texts = []
    for (_, unsure), run in groupby(enumerate(sorted(found)), key=lambda item: (item[1][0] - item[0], item[1][1])):
        places = [place for _, (place, _) in run]
        own = [f"{named[place]}{unsure}" for place in places]
        texts += [f"{own[0]}-{own[-1]}"] if len(own) > 2 and not unsure else own
    return between.join(texts)


def _letters(n: int) -> list[str]:
    """Return so many names of one letter, or of two if there are more than letters."""
    if n <= len(ALPHABET):
        return list(ALPHABET[:n])
    width = math.ceil(math.log(n, len(ALPHABET)) - 1e-9)
    return [
        "".join(ALPHABET[number // len(ALPHABET) ** place % len(ALPHABET)] for place in reversed(range(width)))
        for number in range(n)
    ]


def _caption(
    comparison: Comparison, parts: Sequence[Comparison], qrels: str, columns: Sequence[str], marks: str
) -> Iterator[str]:
    """Give the sentences of the caption: what the numbers are, what is bold and marked, and what ties count."""
    design = comparison.design
    sizes = sorted({pair.n_queries for part in parts for pair in part.pairs})
    over = " to ".join(f"{end:,}" for end in dict.fromkeys((sizes[0], sizes[-1])))
    by = f" in each stratum by {' and '.join(columns)}" if columns else ""
    kinds = {"totals" if one.total else "geometric means" if one.geometric else "means" for one in comparison.measures}
    what = " and ".join(sorted(kinds)).capitalize()
    noun = "query" if sizes == [1] else "queries"
    yield f"{what} over {over} {noun} of {PurePath(qrels).name}{by}; the best of each measure is bold."
    lower = [one.label for one in comparison.measures if not one.higher_is_better]
    if lower:
        yield f"Of {', '.join(lower)} ({LOWER}) less is better."
    yield from _explained(design.baseline, marks)
    n_clusters = None if comparison.cluster is None else len(set(comparison.cluster.tolist()))
    clusters = "" if n_clusters is None else f", by {counted(n_clusters, 'cluster')}"
    corrected = "which accounts for all pairs" if design.test == TUKEY else CORRECTIONS[design.correction]
    within = "" if design.test == TUKEY or design.correction == "none" else " within a measure"
    over_strata = ", over all strata" if within and len(parts) > 1 else ""
    level = f"{1 - design.confidence_level:.3g}"
    yield (
        f"Significant: p < {level} by {_article(TESTS[design.test])}{clusters}, {design.alternative},"
        f" {corrected}{within}{over_strata}."
    )
    ties = next(iter(comparison.evaluations.values())).ties
    named, _, rule = broken_by(ties, arguments.whole(design.rng)).partition(": ")
    yield f"Ties: {rule or named}."


def _article(test: str) -> str:
    return test if test[0].isupper() else f"a {test}"


def _explained(baseline: str | None, marks: str) -> Iterator[str]:
    if baseline is None:
        shown = "letters behind a number: the systems that it is significantly better than" if marks else ""
        yield f"{shown[0].upper()}{shown[1:]}." if shown else "No difference between two systems is significant."
    else:
        said = [
            f"{mark} significantly {what}" for mark, what in ((BETTER, "better"), (WORSE, "worse")) if mark in marks
        ]
        yield f"{', '.join(said)} than {baseline}." if said else f"No difference from {baseline} is significant."
    if DOUBT in marks:
        yield "A question mark: p is in doubt, as the queries are few or the differences skewed."
