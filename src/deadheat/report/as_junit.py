"""Gates as JUnit XML, which continuous integration shows as tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from xml.etree import ElementTree as ET

from deadheat.errors import counted, on_terminal
from deadheat.report.formats import ReportFormat, register
from deadheat.report.model import Report

if TYPE_CHECKING:
    from deadheat.gates import Check, GateResult


def as_junit(result: GateResult, report: Report) -> str:
    """Return gates as JUnit XML: one suite, a test case for each gate.

    Parameters
    ----------
    result : GateResult
    report : Report
        Of it; what it says to people goes into the suite's system-out.
    """
    counts = {"tests": len(result.checks), "failures": len(result.failures), "errors": 0, "skipped": 0, "time": 0}
    attributes = {key: str(value) for key, value in counts.items()}
    root = ET.Element("testsuites", attributes)
    suite = ET.SubElement(root, "testsuite", {"name": on_terminal(f"deadheat gate {result.name}"), **attributes})
    properties = ET.SubElement(suite, "properties")
    ET.SubElement(properties, "property", {"name": "summary", "value": on_terminal(report.heading)})
    for check in result.checks:
        _add(suite, check, result.name)
    told = (report.heading, *(fact.sentence for fact in report.shown))
    ET.SubElement(suite, "system-out").text = "\n".join(map(on_terminal, told))
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode")


def _add(suite: ET.Element, check: Check, name: str) -> None:
    case = ET.SubElement(
        suite, "testcase", {"classname": on_terminal(f"deadheat.{name}"), "name": on_terminal(check.title), "time": "0"}
    )
    seen = f"value {check.value!r}, {counted(check.n_queries, 'query', 'queries')}"
    if not check.passed:
        failure = ET.SubElement(case, "failure", {"message": on_terminal(check.reason), "type": "GateFailed"})
        failure.text = "\n".join(map(on_terminal, filter(None, (check.title, seen, check.reason, check.worst))))
    else:
        ET.SubElement(case, "system-out").text = "\n".join(map(on_terminal, filter(None, (check.reason, seen))))


register(
    ReportFormat(
        name="junit",
        suffixes=(".xml",),
        write=lambda report, **_: as_junit(cast("GateResult", report.subject), report),
        needs="gates",
        place=6,
    )
)
