"""Reports of labelled cases: what is wrong with them, and what a set is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from deadheat.benchmark.cases import Summary, Validation
from deadheat.errors import counted
from deadheat.report.model import Column, Fact, Report, note, said, tabulate

NONE = "(none)"
FINDING = Column("level", ""), Column("line", "line", lambda one: "" if one.line is None else str(one.line))
TEXT = Column("text", "finding", lambda one: f"{one.case_id}: {one.text}" if one.case_id else one.text)
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
    if is_data:
        files = [
            {
                "path": str(one.path),
                "name": one.name,
                "n_cases": one.n_cases,
                "is_usable": one.is_usable,
                "n_errors": len(one.errors),
                "n_warnings": len(one.warnings),
                "findings": [asdict(finding) for finding in one.findings],
            }
            for one in validations
        ]
        return Report((), (Fact("is_usable", all(one.is_usable for one in validations)), Fact("files", files)))
    tables = [
        tabulate("findings", FINDING, (TEXT,), one.findings, title=_verdict(one)) for one in validations if one.findings
    ]
    return Report(tuple(tables), tuple(said(_verdict(one), "no findings") for one in validations if not one.findings))


def _verdict(validation: Validation) -> str:
    cases = f"{counted(validation.n_cases, 'case')}, " if validation.n_cases else ""
    errors = counted(len(validation.errors), "error") if validation.errors else "usable"
    warnings = f", {counted(len(validation.warnings), 'warning')}" if validation.warnings else ""
    return f"{validation.path}: {cases}{errors}{warnings}"


def report_cases(parts: Mapping[str, Sequence[Summary]], notes: Sequence[str] = ()) -> Report:
    """Return the report of sets of cases, summarised by their labels.

    Parameters
    ----------
    parts : mapping of str to sequence of Summary
        What `summarise` makes of each set, by its name.
    notes : sequence of str, default ()
        What was assumed of them.
    """
    rows = [
        {
            "set": name,
            "by": one.by,
            "value": "" if one.by == "all" else one.value or NONE,
            **{column.key: getattr(one, column.key) for column in COUNTS},
        }
        for name, own in parts.items()
        for one in own
    ]
    labels = (Column("set", "set"), Column("by", "by"), Column("value", "value"))
    facts = [Fact("notes", list(notes)), *(note("note", one) for one in notes)]
    return Report((tabulate("sets", labels, COUNTS, rows),), tuple(facts), closing=NOT_INDEPENDENT)
