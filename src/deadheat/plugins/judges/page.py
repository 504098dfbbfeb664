"""The page of what judges agree on."""

from deadheat.core import hooks
from deadheat.core.report.model import PAGES, Report, registers_report
from deadheat.plugins.judges.judge_agreement import JudgeAgreement
from deadheat.plugins.judges.report import report_judges


@registers_report(JudgeAgreement, among=PAGES)
def page_of_judges(found: JudgeAgreement, report: Report | None = None, digits: int | None = None) -> str:
    """Return an HTML document with the figures of the first judge and measure, and the tables."""
    measure = found.conclusions[0].measure.label if found.conclusions else ""
    heading = f"Judges: {', '.join(found.judges)}"
    page: str = hooks.service("page").page_of_report(report or report_judges(found), heading, found, measure, digits)
    return page
