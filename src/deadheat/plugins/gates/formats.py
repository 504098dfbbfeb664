"""Formats that only the result of gates has: JUnit XML for build servers, and Markdown with marks for GitHub."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from deadheat.core.report.as_markdown import as_markdown
from deadheat.core.report.formats import ReportFormat, register
from deadheat.core.report.model import Report
from deadheat.core.wording import escape_for_terminal, format_count

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from deadheat.plugins.gates.notation import Check, GateResult


def as_junit(result: GateResult, report: Report) -> str:
    """Return gates as JUnit XML: one suite, a test case for each gate.

    Parameters
    ----------
    result : GateResult
    report : Report
        Of it; what it says to people goes into the suite's system-out.
    """
    from xml.etree import ElementTree as ET  # a twentieth of the time of `evaluate --help`

    attributes = {
        "tests": str(len(result.checks)),
        "failures": str(len(result.failures)),
        "errors": "0",
        "skipped": "0",
        "time": "0",
    }
    summary = next((str(fact.value) for fact in report.facts if fact.key == "summary"), report.heading)
    root = ET.Element("testsuites", attributes)
    suite = ET.SubElement(
        root, "testsuite", {"name": escape_for_terminal(f"deadheat gate {result.name}"), **attributes}
    )
    ET.SubElement(
        ET.SubElement(suite, "properties"), "property", {"name": "summary", "value": escape_for_terminal(summary)}
    )
    for check in result.checks:
        _add(suite, check, result.name)
    ET.SubElement(suite, "system-out").text = "\n".join(
        escape_for_terminal(text) for text in (report.heading, *(fact.sentence for fact in report.shown))
    )
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode")


def _add(suite: Element, check: Check, name: str) -> None:
    from xml.etree import ElementTree as ET  # as above

    case = ET.SubElement(
        suite,
        "testcase",
        {"classname": escape_for_terminal(f"deadheat.{name}"), "name": escape_for_terminal(check.title), "time": "0"},
    )
    seen = f"value {check.value!r}, {format_count(check.n_queries, 'query', 'queries')}"
    if not check.passed:
        failure = ET.SubElement(case, "failure", {"message": escape_for_terminal(check.reason), "type": "GateFailed"})
        failure.text = "\n".join(map(escape_for_terminal, filter(None, (check.title, seen, check.reason, check.worst))))
    else:
        ET.SubElement(case, "system-out").text = "\n".join(map(escape_for_terminal, filter(None, (check.reason, seen))))


register(
    ReportFormat(
        name="junit",
        suffixes=(".xml",),
        write=lambda report, **_: as_junit(cast("GateResult", report.subject), report),
        needs="gates",
        place=60,
    )
)
register(ReportFormat(name="github", suffixes=(".md",), write=as_markdown, needs="gates", place=70))
