"""Sections of a page that other plugins add: modules of the kind "sections", which have a function ``section``."""

import warnings
from collections.abc import Iterator, Mapping
from types import ModuleType

from deadheat.core import hooks, third_party
from deadheat.core.errors import DeadheatError, DeadheatWarning
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.report.model import Report


def sections_of(evaluations: Mapping[str, Evaluation]) -> Iterator[Report]:
    """Yield the sections that plugins add for some systems, as reports with a heading.

    One of another distribution that raises an exception is left out with a warning: a page does not break by it.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        By system, of the same queries.
    """
    for module in hooks.load("sections"):
        report = _made_by(module, evaluations)
        if report is not None:
            yield report
    for plugin, module in third_party.load_modules("sections"):
        try:
            report = _made_by(module, evaluations)
        except DeadheatError:
            raise
        except Exception as error:  # noqa: BLE001 - code of others may raise anything
            problem = f"{type(error).__name__}: {error}"
            text = f"the section of the plugin {plugin.name} of {plugin.origin} is left out: {problem}"
            warnings.warn(DeadheatWarning(text), stacklevel=2)
            continue
        if report is not None:
            yield report


def _made_by(module: ModuleType, evaluations: Mapping[str, Evaluation]) -> Report | None:
    report: Report | None = module.section(evaluations)
    return report
