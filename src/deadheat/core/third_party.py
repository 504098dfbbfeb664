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
# The records that some fields of a plugin hold; all others hold texts.
ITEMS: dict[str, type] = {"commands": Command, "measures": MeasureFile, "readers": FileFormats}
TUPLES_OF_TEXTS = ("names", "aliases", "endings")  # fields of these records; all others are texts


class NamedRegistry(NamedTuple):
    """A registry of what the records of plugins name, such as that of measures.

    Attributes
    ----------
    what : str
        What messages call an entry, such as "measure".
    names : callable
        Returns the names that are registered.
    forget : callable
        Takes the name of a module, and removes what the module registered.
    """

    what: str
    names: Callable[[], Collection[str]]
    forget: Callable[[str], None]


class ThirdPartyPlugin(NamedTuple):
    """A plugin that a distribution names in the entry-point group.

    Attributes
    ----------
    name : str
        The name of the plugin; that of its entry point if the plugin could not be loaded.
    distribution, version : str
    plugin : Plugin or None
        Its record; None if it could not be loaded.
    problem : str
        Why the plugin is left out; empty if it is used.
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
_import_problems: dict[str, str] = {}  # what went wrong when modules were imported, by the name of the plugin


def add_registry(kind: Kind, registry: NamedRegistry) -> None:
    """Have each module of a kind register the names in its record; what a failing module registered is removed."""
    _registries[kind] = registry


def third_party_plugins() -> tuple[ThirdPartyPlugin, ...]:
    """Return the plugins of other distributions, in the order of their names, with what is wrong with some."""
    with _lock:
        return tuple(_add_import_problem(plugin) for plugin in _find_plugins())


def _add_import_problem(plugin: ThirdPartyPlugin) -> ThirdPartyPlugin:
    problem = plugin.problem or _import_problems.get(plugin.name, "")
    return plugin._replace(problem=problem)


@cache
def _find_plugins() -> tuple[ThirdPartyPlugin, ...]:
    """Return the plugins of all entry points; warn of those that are left out."""
    from importlib.metadata import entry_points  # takes 30 ms to load

    plugins: list[ThirdPartyPlugin] = []
    accepted: list[ThirdPartyPlugin] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        plugin = _load_record(entry)
        if not plugin.problem and plugin.plugin is not None:
            plugin = plugin._replace(problem=_problem_beside_others(plugin.plugin, accepted))
        if plugin.problem:
            _warn_of_plugin(plugin)
        else:
            accepted.append(plugin)
        plugins.append(plugin)
    return tuple(plugins)


def _load_record(entry: EntryPoint) -> ThirdPartyPlugin:
    """Import the record of an entry point."""
    distribution = "an unknown distribution"
    version = ""
    if entry.dist is not None:
        distribution = entry.dist.name
        version = entry.dist.version
    try:
        record: Any = entry.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - code of others may raise anything
        return ThirdPartyPlugin(entry.name, distribution, version, None, _describe_error(error))
    if isinstance(record, Plugin):
        problem = _problem_with_types(record)
    else:
        problem = f"{entry.value} is no deadheat.api.Plugin, but of type {type(record).__name__}"
    if problem:
        return ThirdPartyPlugin(entry.name, distribution, version, None, problem)
    record = record._replace(package=entry.module)
    return ThirdPartyPlugin(record.name, distribution, version, record, "")


def _describe_error(error: BaseException) -> str:
    return cut_long_words(f"{type(error).__name__}: {error}")


def _warn_of_plugin(plugin: ThirdPartyPlugin) -> None:
    text = f"the plugin {plugin.name} of {plugin.origin} is left out: {plugin.problem}"
    warnings.warn(DeadheatWarning(text), stacklevel=2)


def _problem_with_types(plugin: Plugin) -> str:
    """Say which field of a record has a wrong type, such as a text where a tuple is due; empty if all fit."""
    for field in ("name", "help"):
        problem = _problem_with_text(f"{field}=", getattr(plugin, field))
        if problem:
            return problem
    for field in ("requires", *MAY_ADD):
        items = getattr(plugin, field)
        kind = ITEMS.get(field, str)
        problem = _problem_with_tuple(f"{field}=", items, kind)
        if not problem and kind is not str:
            problem = _problem_with_items(f"{kind.__name__} in {field}=", items)
        if problem:
            return problem
    return ""


def _problem_with_items(where: str, items: tuple[Any, ...]) -> str:
    """Say what is wrong with a record in a field of a plugin; empty if all are right."""
    for item in items:
        problem = _problem_with_item(where, item)
        if problem:
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
    if isinstance(value, str):
        return ""
    return f"{where} is no text, but of type {type(value).__name__}"


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


def _problem_beside_others(plugin: Plugin, others: list[ThirdPartyPlugin]) -> str:
    """Say why a plugin cannot be used beside what ships and beside other plugins; empty if it can."""
    may_fill = {"name", "help", "requires", "package", *MAY_ADD}
    shipped_only = [field for field in Plugin._fields if field not in may_fill and getattr(plugin, field)]
    if shipped_only:
        return f"it adds {format_list(shipped_only)}, which only plugins that ship with deadheat can"
    known = {shipped.name for shipped in hooks.registry().plugins}
    for name in plugin.requires:
        if name not in known or not hooks.is_installed(name):
            return f"it needs the plugin {name}, which is not installed"
    owners: dict[str, str] = {}
    for shipped in hooks.registry().plugins:
        owners |= dict.fromkeys(_list_names(shipped), "deadheat")
    for other in others:
        if other.plugin is not None:
            owners |= dict.fromkeys(_list_names(other.plugin), f"the plugin {other.name} of {other.origin}")
    for name in _list_names(plugin):
        if name in owners:
            return f"its {name} is taken by {owners[name]}"
    return ""


def _list_names(plugin: Plugin) -> Iterator[str]:
    """Yield each name that a plugin takes, with its kind, such as ``command ties``: no two plugins have the same."""
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


def _list_usable() -> list[tuple[ThirdPartyPlugin, Plugin]]:
    """Return the plugins that can be used, each with its record."""
    usable = []
    for plugin in third_party_plugins():
        if plugin.plugin is not None and not plugin.problem:
            usable.append((plugin, plugin.plugin))
    return usable


def load(kind: Kind) -> bool:
    """Import the modules that plugins of others have for a kind; tell whether this call imported some.

    Call it where nothing that is registered has the answer, and look again if it returns true. A plugin whose module
    fails is left out with a warning.
    """
    with _lock:
        if kind in _loaded:
            return False
        _loaded.add(kind)
        n_imported = 0
        for plugin, record in _list_usable():
            for module in hooks.list_modules(record, kind):
                n_imported += _import_module(plugin, module, kind)
        return n_imported > 0


def try_all() -> tuple[ThirdPartyPlugin, ...]:
    """Import every module that plugins of others name, and return the plugins, with what is wrong with some."""
    with _lock:
        for plugin, record in _list_usable():
            _try_modules(plugin, record)
        return third_party_plugins()


def _try_modules(plugin: ThirdPartyPlugin, record: Plugin) -> None:
    """Import the modules of a plugin, until one fails."""
    for kind in KINDS:
        for module in hooks.list_modules(record, kind):
            if not _import_module(plugin, module, kind):
                return
    for command in record.commands:
        if not _import_module(plugin, command.module):
            return
        if not hasattr(sys.modules[command.module], command.name):
            _leave_out(plugin, f"{command.module} has no command {command.name}")
            return


def load_modules(kind: Kind) -> list[tuple[ThirdPartyPlugin, ModuleType]]:
    """Return the modules that plugins of others have for a kind, each with its plugin."""
    load(kind)
    modules = []
    for plugin, record in _list_usable():
        for module in hooks.list_modules(record, kind):
            modules.append((plugin, sys.modules[module]))
    return modules


def _import_module(plugin: ThirdPartyPlugin, module: str, kind: Kind | None = None) -> bool:
    """Import a module of a plugin; tell whether it registers what the record says, and else leave the plugin out."""
    try:
        import_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - code of others may raise anything
        problem = f"importing {module} failed: {_describe_error(error)}"
    else:
        problem = _problem_with_registered(plugin, module, kind)
    if problem:
        _leave_out(plugin, problem)
        for registry in _registries.values():
            registry.forget(module)  # what it registered before it failed
    return not problem


def _leave_out(plugin: ThirdPartyPlugin, problem: str) -> None:
    _import_problems[plugin.name] = problem
    _warn_of_plugin(_add_import_problem(plugin))


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


def _list_commands() -> Iterator[tuple[ThirdPartyPlugin, Command]]:
    """Yield the commands that plugins of others have, each with its plugin."""
    for plugin, record in _list_usable():
        for command in record.commands:
            yield plugin, command


def find_command(name: str) -> Command | None:
    """Return the command with a name that a plugin of others has; None if none has it."""
    for _, command in _list_commands():
        if command.name == name:
            return command
    return None


def list_command_names() -> list[str]:
    """Return the names of the commands that plugins of others have."""
    return [command.name for _, command in _list_commands()]


def find_owner_of_command(name: str) -> ThirdPartyPlugin | None:
    """Return the plugin of others that has a command; None if none has it."""
    for plugin, command in _list_commands():
        if command.name == name:
            return plugin
    return None


def import_command(name: str) -> Any:  # noqa: ANN401 - a click command; click is not loaded here
    """Return the click command of a plugin of others.

    Raises
    ------
    MissingPluginError
        It cannot be imported, or its module has no such function.
    """
    owner = find_owner_of_command(name)
    command = find_command(name)
    if owner is None or command is None:
        raise KeyError(name)
    try:
        return getattr(import_module(command.module), name)
    except Exception as error:
        problem = f"the command {name} of the plugin {owner.name} of {owner.origin} cannot be imported"
        raise MissingPluginError(problem, hint=_describe_error(error)) from error
