"""The report of a tuned fusion: what it is worth held out, beside each input, and how flat the curve is."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from deadheat.core.report.cells import Span, format_cell, p_value_cell
from deadheat.core.report.model import SYSTEM, Column, Fact, Report, note_fact, prose_fact, registers_report, tabulate
from deadheat.core.wording import format_count, format_rounded
from deadheat.plugins.fusion.fuse import format_parameter
from deadheat.plugins.fusion.tuned import CONFIDENCE, Gain, TunedFusion

ALPHA = 1 - CONFIDENCE
SYSTEM_COLUMNS = (
    Column("mean", "mean"),
    Column("difference", "fused less it"),
    Column("interval", "95% CI", ends=("low", "high")),
    Column("p_adjusted", "p", lambda row: p_value_cell(row["p_adjusted"], is_significant=row["is_significant"])),
)
SETTING = Column("setting", "setting")
SETTING_COLUMNS = (
    Column("mean", "mean"),
    Column("interval", "95% CI", ends=("low", "high")),
    Column("n_chosen", "parts that chose it"),
)


@registers_report(TunedFusion)
def report_tuning(found: TunedFusion, *, path: str | None = None) -> Report:
    """Return the report of a tuned fusion.

    Parameters
    ----------
    found : TunedFusion
    path : str, optional
        Where the fused run was written.
    """
    label = found.measure.label
    systems = tabulate("systems", (SYSTEM,), SYSTEM_COLUMNS, _rows_of_systems(found), title=f"{label}, held out")
    settings = tabulate(
        "settings",
        (SETTING,),
        SETTING_COLUMNS,
        _rows_of_settings(found),
        title=f"{label} by setting",
        is_extra=True,
    )
    return Report((systems, settings), tuple(_facts(found, path)), opening=describe_result(found))


def describe_result(found: TunedFusion) -> str:
    """Say in a sentence what the fused run is worth, beside each input.

    Examples
    --------
    >>> from deadheat import tune_fusion
    >>> qrels = {f"q{n}": {"a": 1} for n in range(4)}
    >>> one, two = ({query: {"a": s, "b": 0.5} for query in qrels} for s in (1, 0))
    >>> describe_result(tune_fusion(qrels, {"one": one, "two": two}, "RR", "wsum", grid=3, folds=2))[:34]
    'wsum(one, two): RR 1.0000, held ou'
    """
    value = found.held_out[found.measure].reported()
    parts = [f"{found.name}: {found.measure.label} {format_cell(value)}, held out"]
    parts += [_describe_gain(found, gain) for gain in found.gains()]
    sentence = "; ".join(parts)
    if not found.is_tuned:
        return f"{sentence}. There was nothing to tune."
    return f"{sentence}. On the queries that it was tuned on it would be {format_cell(found.in_sample)}."


def _describe_gain(found: TunedFusion, gain: Gain) -> str:
    """Say how the fused run compares with one input."""
    size = f"{format_signed(gain.difference)} {format_cell(Span(gain.low, gain.high))}"
    other = f"{gain.system} ({format_cell(gain.mean)})"
    if not gain.p_value < ALPHA:
        return f"not told apart from {other}, {size}"
    is_better = gain.difference * found.measure.sign > 0
    word = "better" if is_better else "worse"
    return f"{word} than {other} by {size}"


def format_signed(number: float) -> str:
    """Return a number with its sign.

    Examples
    --------
    >>> format_signed(0.02724), format_signed(-0.5)
    ('+0.0272', '-0.5000')
    """
    text = format_rounded(number)
    return text if text.startswith("-") else f"+{text}"


def _rows_of_systems(found: TunedFusion) -> list[dict[str, Any]]:
    """Return a row for the fused run, and one for each input."""
    rows: list[dict[str, Any]] = [
        {
            "system": found.name,
            "mean": found.held_out[found.measure].reported(),
            "difference": None,
            "interval": None,
            "p_adjusted": None,
            "is_significant": False,
        }
    ]
    for gain in found.gains():
        rows.append(
            {
                "system": gain.system,
                "mean": gain.mean,
                "difference": gain.difference,
                "interval": Span(gain.low, gain.high),
                "p_adjusted": gain.p_value,
                "is_significant": gain.p_value < ALPHA,
            }
        )
    return rows


def _rows_of_settings(found: TunedFusion) -> list[dict[str, Any]]:
    """Return a row for each setting."""
    rows = []
    for row in found.to_polars().iter_rows(named=True):
        rows.append({**row, "interval": Span(row["low"], row["high"])})
    return rows


def _facts(found: TunedFusion, path: str | None) -> list[Fact]:
    """Say which setting is best, how sure that is, and how the values were held out."""
    n_best = found.chosen.count(found.best)
    setting = found.describe_setting(found.best)
    best = setting
    of_parts = f"the best on all queries; {n_best} of {found.n_folds} parts chose it"
    recipe = found.recipe.describe()
    if len(found.settings) > 1:
        best = f"{best}, {of_parts}"
    facts = [
        Fact("method", found.recipe.method.name, "method", recipe, brief=recipe),
        Fact("best", dict(found.parameters), "best", best, brief=best),
        Fact("held_out", found.held_out[found.measure].reported()),
        Fact("in_sample", found.in_sample),
        Fact("n_folds", found.n_folds),
        prose_fact(
            "held out",
            f"each of {found.n_folds} parts of {format_count(len(found.query_ids), 'query', 'queries')} is fused by"
            " what is best on the others",
        ),
    ]
    flatness = found.flatness
    if flatness is not None:
        size = f"{format_signed(flatness.difference)} {format_cell(Span(flatness.low, flatness.high))}"
        n_others = format_count(len(found.settings) - 1, "setting")
        text = f"best less worst {size}, for {n_others} at once (Bonferroni)"
        if flatness.is_flat:
            text = f"flat: {setting} is not told apart from any other setting; {text}"
        facts.append(Fact("curve", asdict(flatness), "curve", text, brief=text))
    ends = _describe_end(found)
    if ends:
        facts.append(note_fact("grid", ends))
    facts += [note_fact("inputs", note) for note in found.run.notes]
    if path is not None:
        facts.append(Fact("written", path, "written", path, brief=path))
    return facts


def _describe_end(found: TunedFusion) -> str:
    """Say that the best setting is the first or the last of a grid, beyond which may be better ones; else empty."""
    positions = found.positions()
    if positions is None or len(found.settings) < 2 or "weights" in found.varying:
        return ""
    name, values = positions
    value = values[found.best]
    if value not in {min(values), max(values)}:
        return ""
    return f"the best {format_parameter(name, value)} is at the end of what was tried: others beyond may be better"
