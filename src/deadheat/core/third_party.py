"""Plugins of other distributions: found by entry points, asked only where nothing that ships knows an answer.

A distribution names a `Plugin` in the entry-point group ``deadheat.plugins``. Looking through what is installed takes
some 30 ms, so it happens once a process, for an unknown measure, file, object or command. A plugin that cannot be
loaded, or that takes a name that is taken, is left out with a warning: it never breaks what ships.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from deadheat.core import hooks
from deadheat.core.errors import DeadheatWarning, MissingPluginError
from deadheat.core.hooks import Command, Kind, Plugin
from deadheat.core.wording import cut_long_words, format_list

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "deadheat.plugins"
MAY_ADD = ("commands", "measures", "readers", "dialects", "objects", "formats", "reports", "pages", "sections")


class ThirdPartyPlugin(NamedTuple):
    """A plugin that some distribution names in the entry-point group.

    Attributes
    ----------
    name : str
        That of the plugin; of the entry point where the plugin could not be loaded.
    distribution, version : str
    plugin : Plugin or None
        None if it could not be loaded.
    problem : str
        Why it is left out; empty if it is not.
    """

    name: str
    distribution: str
    version: str
    plugin: Plugin | None
    problem: str

    @property
    def origin(self) -> str:
        """The distribution with its version."""
        return f"{self.distribution} {self.version}"


_lock = RLock()
_loaded: set[Kind] = set()
_import_problems: dict[str, str] = {}  # by the names of plugins, found when their modules were imported


def third_party_plugins() -> tuple[ThirdPartyPlugin, ...]:
    """Return the plugins of other distributions, in the order of their names, with what is wrong with some."""
    with _lock:
        return tuple(_with_import_problem(one) for one in _found())


def _with_import_problem(plugin: ThirdPartyPlugin) -> ThirdPartyPlugin:
    problem = plugin.problem or _import_problems.get(plugin.name, "")
    return plugin._replace(problem=problem)


@cache
def _found() -> tuple[ThirdPartyPlugin, ...]:
    from importlib.metadata import entry_points  # takes 30 ms to load

    usable: list[ThirdPartyPlugin] = []
    found: list[ThirdPartyPlugin] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda one: (one.name, one.value)):
        plugin = _read(entry)
        if not plugin.problem and plugin.plugin is not None:
            plugin = plugin._replace(problem=_problem_with(plugin.plugin, usable))
        if plugin.problem:
            _warn(plugin)
        else:
            usable.append(plugin)
        found.append(plugin)
    return tuple(found)


def _read(entry: EntryPoint) -> ThirdPartyPlugin:
    """Import the record of an entry point."""
    distribution = entry.dist.name if entry.dist is not None else "an unknown distribution"
    version = entry.dist.version if entry.dist is not None else ""
    try:
        record: Any = entry.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - code of others may raise anything
        return ThirdPartyPlugin(entry.name, distribution, version, None, _describe(error))
    if not isinstance(record, Plugin):
        problem = f"{entry.value} is no deadheat.api.Plugin, but of type {type(record).__name__}"
        return ThirdPartyPlugin(entry.name, distribution, version, None, problem)
    record = record._replace(package=entry.module)
    return ThirdPartyPlugin(record.name, distribution, version, record, "")


def _describe(error: BaseException) -> str:
    return cut_long_words(f"{type(error).__name__}: {error}")


def _warn(plugin: ThirdPartyPlugin) -> None:
    text = f"the plugin {plugin.name} of {plugin.origin} is left out: {plugin.problem}"
    warnings.warn(DeadheatWarning(text), stacklevel=2)


def _problem_with(plugin: Plugin, others: list[ThirdPartyPlugin]) -> str:
    """Say why a plugin cannot be used beside what ships and beside other plugins; empty if it can."""
    shipped_only = [name for name in Plugin._fields if name not in _described() and getattr(plugin, name)]
    if shipped_only:
        return f"it adds {format_list(shipped_only)}, which only plugins that ship with deadheat can"
    known = {shipped.name for shipped in hooks.registry().plugins}
    for name in plugin.requires:
        if name not in known or not hooks.is_installed(name):
            return f"it needs the plugin {name}, which is not installed"
    owners = {what: "deadheat" for shipped in hooks.registry().plugins for what in _names_of(shipped)}
    for other in others:
        if other.plugin is not None:
            owners |= dict.fromkeys(_names_of(other.plugin), f"the plugin {other.name} of {other.origin}")
    for what in _names_of(plugin):
        if what in owners:
            return f"its {what} is taken by {owners[what]}"
    return ""


def _described() -> set[str]:
    """Return the fields of a record that a third-party plugin may fill."""
    return {"name", "help", "requires", "package", *MAY_ADD}


def _names_of(plugin: Plugin) -> Iterator[str]:
    """Yield what a plugin takes names for, such as ``command ties``: two plugins cannot have the same."""
    yield f"name {plugin.name}"
    for command in plugin.commands:
        yield f"command {command.name}"
    for measures in plugin.measures:
        for name in (*measures.names, *measures.aliases):
            yield f"measure {name.casefold()}"
    for formats in plugin.readers:
        for name in formats.names:
            yield f"file format {name}"
        for ending in formats.endings:
            yield f"file ending {ending}"


def usable() -> list[ThirdPartyPlugin]:
    """Return the plugins that can be used."""
    return [plugin for plugin in third_party_plugins() if not plugin.problem]


def load(kind: Kind) -> bool:
    """Import the modules that plugins of others have for a kind; tell whether this call imported some.

    Somebody who knows no answer calls it, and looks again if it is true. A module that fails is left out with a
    warning.
    """
    with _lock:
        if kind in _loaded:
            return False
        _loaded.add(kind)
        n_imported = 0
        for plugin in usable():
            if plugin.plugin is not None:
                for module in hooks.modules_of(plugin.plugin, kind):
                    n_imported += _import(plugin, module)
        return n_imported > 0


def modules(kind: Kind) -> list[tuple[ThirdPartyPlugin, ModuleType]]:
    """Return the modules that plugins of others have for a kind, each with its plugin."""
    load(kind)
    found = []
    for plugin in usable():
        if plugin.plugin is not None:
            for module in hooks.modules_of(plugin.plugin, kind):
                found.append((plugin, sys.modules[module]))
    return found


def _import(plugin: ThirdPartyPlugin, module: str) -> bool:
    """Import a module of a plugin, or leave the plugin out."""
    try:
        import_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - code of others may raise anything
        _import_problems[plugin.name] = f"importing {module} failed: {_describe(error)}"
        _warn(_with_import_problem(plugin))
        return False
    return True


def command_named(name: str) -> Command | None:
    """Return the command of this name that a plugin of others has; None if none has it."""
    owner = owner_of_command(name)
    if owner is None or owner.plugin is None:
        return None
    return next(command for command in owner.plugin.commands if command.name == name)


def command_names() -> list[str]:
    """Return the names of the commands that plugins of others have."""
    return [command.name for one in usable() if one.plugin is not None for command in one.plugin.commands]


def owner_of_command(name: str) -> ThirdPartyPlugin | None:
    """Return the plugin of others that has a command; None if none has it."""
    for plugin in usable():
        if plugin.plugin is not None and any(command.name == name for command in plugin.plugin.commands):
            return plugin
    return None


def import_command(name: str) -> Any:  # noqa: ANN401 - a click command; click is not loaded here
    """Return the click command of a plugin of others.

    Raises
    ------
    MissingPluginError
        It cannot be imported, or its module has no such function.
    """
    owner, command = owner_of_command(name), command_named(name)
    if owner is None or command is None:
        raise KeyError(name)
    try:
        return getattr(import_module(command.module), name)
    except Exception as error:
        problem = f"the command {name} of the plugin {owner.name} of {owner.origin} cannot be imported"
        raise MissingPluginError(problem, hint=_describe(error)) from error
