"""Plugins of other distributions: found by entry points, asked only where nothing that ships knows an answer.

A distribution names a `Plugin` in the entry-point group ``deadheat.plugins``. Looking through what is installed takes
some 30 ms, so it happens once a process, for an unknown measure, file, object or command. A plugin that cannot be
loaded, or that takes a name that is taken, is left out with a warning: it never breaks what ships.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from functools import cache
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from deadheat.core import hooks
from deadheat.core.errors import DeadheatWarning, MissingPluginError
from deadheat.core.plugin_records import Command, FileFormats, Kind, MeasureFile, Plugin
from deadheat.core.wording import cut_long_words, format_list

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "deadheat.plugins"
KINDS: tuple[Kind, ...] = ("measures", "readers", "dialects", "objects", "formats", "reports", "pages", "sections")
MAY_ADD = ("commands", *KINDS)
ITEMS: dict[str, type] = {"commands": Command, "measures": MeasureFile, "readers": FileFormats}  # others are texts
TUPLES_OF_TEXTS = ("names", "aliases", "endings")  # fields of these; all others are texts


class NamedRegistry(NamedTuple):
    """A registry of what the records of plugins name, such as that of measures.

    Attributes
    ----------
    what : str
        What messages call one of them.
    names : callable
        Returns the names that are registered.
    forget : callable
        Takes the name of a module, and forgets what it registered.
    """

    what: str
    names: Callable[[], Collection[str]]
    forget: Callable[[str], None]


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


_registries: dict[Kind, NamedRegistry] = {}
_lock = RLock()
_loaded: set[Kind] = set()
_import_problems: dict[str, str] = {}  # by the names of plugins, found when their modules were imported


def add_registry(kind: Kind, registry: NamedRegistry) -> None:
    """Let modules of plugins be held to the names in their records, and be forgotten if they fail."""
    _registries[kind] = registry


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
    if problem := _problem_with_types(record):
        return ThirdPartyPlugin(entry.name, distribution, version, None, problem)
    record = record._replace(package=entry.module)
    return ThirdPartyPlugin(record.name, distribution, version, record, "")


def _describe(error: BaseException) -> str:
    return cut_long_words(f"{type(error).__name__}: {error}")


def _warn(plugin: ThirdPartyPlugin) -> None:
    text = f"the plugin {plugin.name} of {plugin.origin} is left out: {plugin.problem}"
    warnings.warn(DeadheatWarning(text), stacklevel=2)


def _problem_with_types(plugin: Plugin) -> str:
    """Say which field of a record is of a wrong type, as one without the comma of a tuple of one; empty if all fit."""
    for field in ("name", "help"):
        if problem := _problem_with_text(f"{field}=", getattr(plugin, field)):
            return problem
    for field in ("requires", *MAY_ADD):
        items = getattr(plugin, field)
        kind = ITEMS.get(field, str)
        if problem := _problem_with_tuple(f"{field}=", items, kind):
            return problem
        if kind is str:
            continue
        for item in items:
            if problem := _problem_with_item(f"{kind.__name__} in {field}=", item):
                return problem
    return ""


def _problem_with_item(where: str, item: Any) -> str:  # noqa: ANN401 - a record of any of `ITEMS`
    for field in item._fields:
        value = getattr(item, field)
        if field in TUPLES_OF_TEXTS:
            problem = _problem_with_tuple(f"{field}= of a {where}", value, str)
        else:
            problem = _problem_with_text(f"{field}= of a {where}", value)
        if problem:
            return problem
    return ""


def _problem_with_text(where: str, value: object) -> str:
    return "" if isinstance(value, str) else f"{where} is no text, but of type {type(value).__name__}"


def _problem_with_tuple(where: str, value: object, kind: type) -> str:
    what = "text" if kind is str else kind.__name__
    if isinstance(value, kind):  # a record is a tuple, too
        return f"{where} is one {what}, where a tuple of them is due: write a comma behind it, ({what},)"
    if not isinstance(value, tuple):
        return f"{where} is no tuple, but of type {type(value).__name__}"
    for item in value:
        if not isinstance(item, kind):
            return f"{where} holds a {type(item).__name__}, where each is a {what}"
    return ""


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
                for module in hooks.list_modules(plugin.plugin, kind):
                    n_imported += _import(plugin, module, kind)
        return n_imported > 0


def try_all() -> tuple[ThirdPartyPlugin, ...]:
    """Import every module that plugins of others name, and return the plugins, with what is wrong with some."""
    with _lock:
        for plugin in usable():
            if plugin.plugin is not None:
                _try(plugin, plugin.plugin)
        return third_party_plugins()


def _try(plugin: ThirdPartyPlugin, record: Plugin) -> None:
    for kind in KINDS:
        for module in hooks.list_modules(record, kind):
            if not _import(plugin, module, kind):
                return
    for command in record.commands:
        if not _import(plugin, command.module):
            return
        if not hasattr(sys.modules[command.module], command.name):
            _leave_out(plugin, f"{command.module} has no command {command.name}")
            return


def modules(kind: Kind) -> list[tuple[ThirdPartyPlugin, ModuleType]]:
    """Return the modules that plugins of others have for a kind, each with its plugin."""
    load(kind)
    found = []
    for plugin in usable():
        if plugin.plugin is not None:
            for module in hooks.list_modules(plugin.plugin, kind):
                found.append((plugin, sys.modules[module]))
    return found


def _import(plugin: ThirdPartyPlugin, module: str, kind: Kind | None = None) -> bool:
    """Import a module of a plugin, and see that it registers what the record says; or leave the plugin out."""
    try:
        import_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - code of others may raise anything
        problem = f"importing {module} failed: {_describe(error)}"
    else:
        problem = _problem_with_registered(plugin, module, kind)
    if problem:
        _leave_out(plugin, problem)
        for registry in _registries.values():
            registry.forget(module)  # what it registered before it failed
    return not problem


def _leave_out(plugin: ThirdPartyPlugin, problem: str) -> None:
    _import_problems[plugin.name] = problem
    _warn(_with_import_problem(plugin))


def _problem_with_registered(plugin: ThirdPartyPlugin, module: str, kind: Kind | None) -> str:
    """Say what a record names that its module does not register; empty if it registers all."""
    if plugin.plugin is None or kind not in _registries:
        return ""
    registry = _registries[kind]
    registered = registry.names()
    files: tuple[MeasureFile | FileFormats, ...] = getattr(plugin.plugin, kind)
    for file in files:
        names = (*file.names, *file.aliases) if isinstance(file, MeasureFile) else file.names
        for name in names:
            if file.module == module and name not in registered:
                return f"{module} registers no {registry.what} {name}"
    return ""


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
