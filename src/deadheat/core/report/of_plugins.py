"""The report of plugins: what is there, from which distribution, what each adds, and what is missing."""

from collections.abc import Iterable
from importlib import import_module
from typing import NamedTuple

from deadheat.core import hooks
from deadheat.core.plugin_records import Plugin
from deadheat.core.report.model import Column, Fact, Report, prose_fact, tabulate, warning_fact
from deadheat.core.third_party import ThirdPartyPlugin, try_all
from deadheat.core.wording import format_count, format_list
from deadheat.version import __version__

READY, MISSING, LEFT_OUT = "ready", "missing", "left out"
MOST_NAMED = 3  # measures


class PluginRow(NamedTuple):
    """A plugin as a row of the table.

    Attributes
    ----------
    name, distribution, version : str
    state : {"ready", "missing", "left out"}
    help : str
        What it is for.
    problem : str
        Why it is not ready.
    commands, measures, formats : tuple of str
        Names of what it adds, other than modules.
    """

    name: str
    distribution: str
    version: str
    state: str
    help: str
    problem: str
    commands: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()

    @property
    def adds(self) -> str:
        """What it adds, in words: by name, or by number where many; what it is for where it adds nothing by name."""
        parts = []
        if self.commands:
            parts.append(f"commands {', '.join(self.commands)}")
        if len(self.measures) > MOST_NAMED:
            parts.append(format_count(len(self.measures), "measure"))
        elif self.measures:
            parts.append(f"measures {', '.join(self.measures)}")
        if self.formats:
            parts.append(f"files {', '.join(self.formats)}")
        return "; ".join(parts) or self.help


def report_plugins() -> Report:
    """Return the report of all plugins: what ships, then those of other distributions, whose modules are imported."""
    import_module(
        "deadheat.core.measures.registration"
    )  # the registries that modules of others are held to: they load Polars,
    import_module("deadheat.core.io.formats")  # which nothing else here needs
    rows = [*_shipped(), *(_of_others(plugin) for plugin in try_all())]
    columns = (
        Column("distribution", "of", spare=1),
        Column("version", "version", spare=2),
        Column("state", "state"),
        Column("adds", "adds", lambda row: row.adds),
    )
    name = Column("plugin", "plugin", lambda row: row.name)
    others = [row for row in rows if row.distribution != "deadheat"]
    problems = [row for row in rows if row.state != READY]
    return Report(
        (tabulate("plugins", [name], columns, rows),),
        (
            Fact("added", [_names_added(row) for row in rows]),
            *(warning_fact(row.name, f"{row.state}: {row.problem}") for row in problems),
            prose_fact("others", "" if others else "no plugin of another distribution is installed"),
        ),
    )


def _names_added(row: PluginRow) -> dict[str, object]:
    """Return what a plugin adds by name, for JSON, and why it is not ready."""
    return {
        "plugin": row.name,
        "help": row.help,
        "problem": row.problem or None,
        "commands": list(row.commands),
        "measures": list(row.measures),
        "formats": list(row.formats),
    }


def _shipped() -> Iterable[PluginRow]:
    for plugin in hooks.registry().plugins:
        state, problem = READY, ""
        package = hooks.get_package(plugin)
        if not hooks.is_package_there(package):
            state, problem = MISSING, f"there is no {package}"
        elif not hooks.is_installed(plugin.name):
            state, problem = LEFT_OUT, f"needs {format_list(hooks.list_missing_requirements(plugin.name))}"
        yield _row(plugin, "deadheat", __version__, state, problem)


def _of_others(plugin: ThirdPartyPlugin) -> PluginRow:
    state = LEFT_OUT if plugin.problem else READY
    if plugin.plugin is None:
        return PluginRow(plugin.name, plugin.distribution, plugin.version, state, "", plugin.problem)
    return _row(plugin.plugin, plugin.distribution, plugin.version, state, plugin.problem)


def _row(plugin: Plugin, distribution: str, version: str, state: str, problem: str) -> PluginRow:
    return PluginRow(
        plugin.name,
        distribution,
        version,
        state,
        plugin.help,
        problem,
        commands=tuple(command.name for command in plugin.commands),
        measures=tuple(name for file in plugin.measures for name in file.names),
        formats=tuple(name for file in plugin.readers for name in file.names),
    )
