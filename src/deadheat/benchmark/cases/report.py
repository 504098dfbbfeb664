"""Reports of labelled cases: what is wrong with them, and what a set is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from deadheat.benchmark.cases import Summary, Validation
from deadheat.report.model import Column, Fact, Report, Row, Table
from deadheat.wording import counted

NONE = "(none)"
COUNTS = (
    Column("n_cases", "cases"),
    Column("n_ids", "ids", spare=2),
    Column("ids_per_case", "ids/case", spare=1),
    Column("n_distinct_ids", "distinct ids"),
    Column("n_repeated_texts", "repeated texts", spare=1),
)
NOT_INDEPENDENT = (
    "distinct ids: fewer than ids where cases expect the same; these are not independent, and cluster intervals"
    " allow for it. repeated texts: cases whose text an earlier case has."
)


def report_validation(validations: Sequence[Validation], *, is_data: bool = False) -> Report:
    """Return the report of validated files: a table of findings for people, or all of it as data.

    Parameters
    ----------
    validations : sequence of Validation
    is_data : bool, default False
        Whether it is for JSON, where findings are a list, not a table.
    """
    usable = all(one.is_usable for one in validations)
    facts = [Fact("is_usable", usable), Fact("files", [_as_data(one) for one in validations])]
    if is_data:
        return Report((), tuple(facts))
    tables = [_findings(one) for one in validations if one.findings]
    clean = [Fact("", None, _verdict(one), "no findings") for one in validations if not one.findings]
    return Report(tuple(tables), tuple(clean))


def _as_data(validation: Validation) -> dict[str, Any]:
    return {
        "path": str(validation.path),
        "name": validation.name,
        "n_cases": validation.n_cases,
        "is_usable": validation.is_usable,
        "n_errors": len(validation.errors),
        "n_warnings": len(validation.warnings),
        "findings": [asdict(one) for one in validation.findings],
    }


def _verdict(validation: Validation) -> str:
    cases = f"{counted(validation.n_cases, 'case')}, " if validation.n_cases else ""
    errors = counted(len(validation.errors), "error") if validation.errors else "usable"
    warnings = f", {counted(len(validation.warnings), 'warning')}" if validation.warnings else ""
    return f"{validation.path}: {cases}{errors}{warnings}"


def _findings(validation: Validation) -> Table:
    labels = (Column("level", ""), Column("line", "line"))
    rows = tuple(
        Row(
            (one.level, "" if one.line is None else str(one.line)),
            ((f"{one.case_id}: {one.text}" if one.case_id else one.text,),),
        )
        for one in validation.findings
    )
    return Table("findings", labels, (Column("text", "finding"),), rows, title=_verdict(validation))


def report_cases(parts: Mapping[str, Sequence[Summary]]) -> Report:
    """Return the report of sets of cases, summarised by their labels.

    Parameters
    ----------
    parts : mapping of str to sequence of Summary
        What `summarise` makes of each set, by its name.
    """
    rows = [
        Row(
            (name, part.by, "" if part.by == "all" else part.value or NONE),
            (tuple(getattr(part, one.key) for one in COUNTS),),
        )
        for name, own in parts.items()
        for part in own
    ]
    labels = (Column("set", "set"), Column("by", "by"), Column("value", "value"))
    return Report((Table("sets", labels, COUNTS, tuple(rows)),), closing=NOT_INDEPENDENT)
