"""What plugins add to the core: found by its name or kind, and imported when it is needed.

The core asks here, and names no plugin. `registry.py` says which plugins there are (the records are in
`plugin_records.py`); it is read when the first thing is looked up. A plugin is installed if its folder is there, and
all plugins that it requires. One that is not installed adds nothing: to ask for something of it is a
`MissingPluginError` that names the plugin.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from deadheat.core.errors import MissingPluginError
from deadheat.core.plugin_records import Command, Feature, Kind, PlaceInSaves, Plugin, PluginSettings, Registry, Service

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

CORE = "deadheat.core"
FOLDER = "deadheat.plugins"  # the package in which the folders of plugins are
PLUGINS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "plugins")  # noqa: PTH118, PTH120 - fast

_registries: list[Registry] = []  # the one that is in use, once somebody has asked for it


def registry() -> Registry:
    """Return what `registry.py` says, which is read when somebody asks: ``import deadheat`` does not."""
    if not _registries:
        use_registry(import_module("deadheat.registry").REGISTRY)
    return _registries[0]


def use_registry(chosen: Registry) -> None:
    """Use another registry from now on, as tests of hooks do."""
    _registries[:] = [chosen]
    for cached in (
        is_installed,
        list_installed,
        commands_by_name,
        list_tables_beside,
        list_run_columns,
        _modules_of_measures,
        load,
        features,
    ):
        cached.cache_clear()


def find_plugin(name: str) -> Plugin:
    """Return the plugin with a name; raise `KeyError` if there is none."""
    for plugin in registry().plugins:
        if plugin.name == name:
            return plugin
    raise KeyError(name)


def get_package(plugin: Plugin) -> str:
    """Return the package of a plugin: by default the folder of its name."""
    return plugin.package or f"{FOLDER}.{plugin.name}"


def is_package_there(package: str) -> bool:
    """Tell whether a package can be imported: for one of our folder its file shows it, faster than find_spec."""
    if package == CORE:
        return True
    parent, _, name = package.rpartition(".")
    if parent == FOLDER and os.path.isfile(os.path.join(PLUGINS, name, "__init__.py")):  # noqa: PTH113, PTH118 - fast
        return True
    from importlib.util import find_spec

    return find_spec(package) is not None


@cache
def is_installed(name: str) -> bool:
    """Tell whether a plugin is there, and all that it requires."""
    plugin = find_plugin(name)
    if not is_package_there(get_package(plugin)):
        return False
    return all(is_installed(required) for required in plugin.requires)


@cache
def list_installed() -> tuple[Plugin, ...]:
    """Return the plugins that are there, in their order."""
    return tuple(plugin for plugin in registry().plugins if is_installed(plugin.name))


def find_plugin_of_module(module: str) -> str | None:
    """Return the name of the plugin that a module belongs to; None for one of the core.

    Examples
    --------
    >>> find_plugin_of_module("deadheat.plugins.gates.gate"), find_plugin_of_module("deadheat.core.errors")
    ('gates', None)
    """
    if not module.startswith(f"{FOLDER}."):
        return None
    return module.removeprefix(f"{FOLDER}.").partition(".")[0]


def find_homes(stub: Path) -> dict[str, str]:
    """Return the module of each name that a stub imports from modules of deadheat."""
    text = stub.read_text("utf-8")
    homes = {}
    for module, names in re.findall(r"^from (deadheat\.\S+) import ([\w, ]+|\([^)]*\))$", text, re.MULTILINE):
        for name in re.findall(r"\w+", names):
            homes[name] = module
    return homes


def missing_plugin(what: str, name: str) -> MissingPluginError:
    """Return the error for something that belongs to a plugin that is not there, or lacks one that it requires.

    Examples
    --------
    >>> str(missing_plugin("--spans", "spans"))
    '--spans is of the plugin spans, which is not installed'
    """
    absent = list_missing_requirements(name)
    if not absent:
        return MissingPluginError(f"{what} is of the plugin {name}, which is not installed")
    return MissingPluginError(
        f"{what} is of the plugin {name}, which needs the plugin {absent[0]}, which is not installed"
    )


def list_missing_requirements(name: str) -> list[str]:
    """Return the plugins that a plugin requires and that cannot be used; none for a plugin that is not known."""
    try:
        plugin = find_plugin(name)
    except KeyError:
        return []
    return [required for required in plugin.requires if not is_installed(required)]


def list_missing_plugins(kind: Kind) -> tuple[str, ...]:
    """Return the plugins that register things of a kind and are not there."""
    missing = []
    for plugin in registry().plugins:
        if list_modules(plugin, kind) and not is_installed(plugin.name):
            missing.append(plugin.name)
    return tuple(missing)


def advise_on_missing(what: str, kind: Kind) -> str:
    """Return a hint on plugins that are not there and may know what something is; empty if all are there."""
    return "; ".join(str(missing_plugin(what, name)) for name in list_missing_plugins(kind))


def check_installed(what: str, module: str) -> None:
    """Raise `MissingPluginError` if a module belongs to a plugin that is not there."""
    name = find_plugin_of_module(module)
    if name is not None and not is_installed(name):
        raise missing_plugin(what, name)


@cache
def load(kind: Kind) -> tuple[ModuleType, ...]:
    """Import the modules that register things of a kind, in the order of the registry, and return them."""
    modules = []
    for plugin in list_installed():
        for module in list_modules(plugin, kind):
            modules.append(import_module(module))
    return tuple(modules)


Registered = TypeVar("Registered")


def load_in_order(
    kind: Kind, registered: Iterable[Registered], module_of: Callable[[Registered], str]
) -> list[Registered]:
    """Load the modules of a kind, and return what they registered in the order of the registry.

    Which of them was imported first does not matter.

    Parameters
    ----------
    kind : str
    registered : iterable
        The list to which they add when they are loaded.
    module_of : callable
        Takes an item of the list, and returns the name of the module that registered it.
    """
    places = {module.__name__: place for place, module in enumerate(load(kind))}

    def place_of(item: Registered) -> int:
        return places.get(module_of(item), len(places))

    return sorted(registered, key=place_of)


def list_modules(plugin: Plugin, kind: Kind) -> tuple[str, ...]:
    """Return the modules of a plugin that register things of a kind."""
    if kind == "measures":
        return tuple(file.module for file in plugin.measures)
    if kind == "readers":
        return tuple(file.module for file in plugin.readers)
    if kind == "beside":
        return tuple(tables.module for tables in plugin.beside)
    modules: tuple[str, ...] = getattr(plugin, kind)
    return modules


@cache
def commands_by_name() -> dict[str, Command]:
    """Return the commands that are there by their names, in the order of the help."""
    commands = {}
    for plugin in list_installed():
        for command in plugin.commands:
            commands[command.name] = command
    return {name: commands[name] for name in _put_in_order(commands, registry().commands)}


def _put_in_order(names: Collection[str], order: Sequence[str]) -> list[str]:
    """Return names in a stated order; what it does not name comes last."""
    ordered = [name for name in order if name in names]
    rest = [name for name in names if name not in order]
    return [*ordered, *rest]


def find_plugin_of_command(name: str) -> str | None:
    """Return the plugin that has a command, installed or not; None where no plugin has it."""
    for plugin in registry().plugins:
        for command in plugin.commands:
            if command.name == name:
                return plugin.name
    return None


def find_plugin_of_option(typed: str) -> str | None:
    """Return the plugin that adds an option to commands, installed or not; None where none does."""
    for plugin in registry().plugins:
        for group in plugin.options:
            if typed in group.typed:
                return plugin.name
    return None


def list_tables(command: str) -> tuple[str, ...]:
    """Return the tables that plugins which are there add to a command."""
    names: list[str] = []
    for plugin in list_installed():
        for tables in plugin.tables:
            if tables.command == command:
                names += tables.names
    return tuple(names)


def check_table(name: str) -> None:
    """Raise `MissingPluginError` if a table is of a plugin that is not there."""
    for plugin in registry().plugins:
        for tables in plugin.tables:
            if name in tables.names and not is_installed(plugin.name):
                raise missing_plugin(f"--table {name}", plugin.name)


def load_modules_for_queries(columns: Iterable[str]) -> list[ModuleType]:
    """Return the modules that compare something by these columns of the table of queries."""
    names = set(columns)
    modules = []
    for plugin in list_installed():
        for column in plugin.query_columns:
            if column.name in names:
                modules.append(import_module(column.module))
    return modules


def describe_missing_for_queries(columns: Iterable[str]) -> list[str]:
    """Say which of these columns of the table of queries are of plugins that are not there."""
    names = set(columns)
    texts = []
    for plugin in registry().plugins:
        for column in plugin.query_columns:
            if column.name in names and not is_installed(plugin.name):
                texts.append(str(missing_plugin(f"the column {column.name} of queries", plugin.name)))
    return texts


@cache
def list_run_columns() -> tuple[str, ...]:
    """Return the columns of tables that tell runs of one system apart, also those of plugins that are not there."""
    names = []
    for plugin in registry().plugins:
        for column in plugin.run_columns:
            names.append(column.name)
    return tuple(names)


def load_module_of_runs(name: str) -> ModuleType:
    """Return the module that knows what the runs are that a column tells apart.

    Raises
    ------
    MissingPluginError
        Its plugin is not there.
    """
    for plugin in registry().plugins:
        for column in plugin.run_columns:
            if column.name != name:
                continue
            if not is_installed(plugin.name):
                raise missing_plugin(f"a table with several runs, told apart by its column {name!r},", plugin.name)
            return import_module(column.module)
    raise KeyError(name)


def find_plugin_of_measure(name: str) -> str | None:
    """Return the plugin that has a measure of this name or alias, installed or not; None where none has it."""
    folded = name.casefold()
    for plugin in registry().plugins:
        for file in plugin.measures:
            known = (*file.names, *file.aliases)
            if folded in map(str.casefold, known):
                return plugin.name
    return None


def missing_measure(name: str) -> MissingPluginError | None:
    """Return the error for a measure, by name or alias, of a plugin that is not there; None for any other name."""
    plugin = find_plugin_of_measure(name)
    if plugin is None or is_installed(plugin):
        return None
    return missing_plugin(f"the measure {name}", plugin)


def list_measures() -> tuple[str, ...]:
    """Return the names of the measures that are there, in the order of the catalogue."""
    names: list[str] = []
    for plugin in list_installed():
        for file in plugin.measures:
            names += file.names
    return tuple(_put_in_order(names, registry().measures))


def find_module_of_measure(name: str) -> str | None:
    """Return the module that has the measure of this name; None for other names, and without its plugin."""
    return _modules_of_measures().get(name)


def is_module_of_measures(module: str) -> bool:
    """Tell whether a module has measures of plugins that are there: the registry names them."""
    return module in _modules_of_measures().values()


@cache
def _modules_of_measures() -> dict[str, str]:
    """Return the module of each measure that is there."""
    modules = {}
    for plugin in list_installed():
        for file in plugin.measures:
            modules.update(dict.fromkeys(file.names, file.module))
    return modules


def list_formats() -> tuple[str, ...]:
    """Return the names of the formats of files that are there, in the order in which they are listed and asked."""
    names: list[str] = []
    for plugin in list_installed():
        for file in plugin.readers:
            names += file.names
    return tuple(_put_in_order(names, registry().formats))


def order_interval_steps(parts: Iterable[str]) -> list[str]:
    """Return the steps that change the interval of a mean: those that the registry names, then other parts."""
    order = registry().interval_steps
    rest = [key for key in parts if key not in order]
    return [*order, *rest]


def check_format(name: str) -> None:
    """Raise `MissingPluginError` if a format of files, by its name or ending, is of a plugin that is not there."""
    for plugin in registry().plugins:
        for file in plugin.readers:
            if name in {*file.names, *file.endings} and not is_installed(plugin.name):
                raise missing_plugin(f"the format {name}", plugin.name)


@cache
def list_tables_beside() -> tuple[str, ...]:
    """Return the keys of the tables beside the judgments that are there, in the order of the registry."""
    keys: list[str] = []
    for plugin in list_installed():
        for tables in plugin.beside:
            keys += tables.keys
    return tuple(keys)


def check_beside(keys: Iterable[str]) -> None:
    """Raise `MissingPluginError` if one of these is the key of a table of a plugin that is not there."""
    given = set(keys)
    for plugin in registry().plugins:
        for tables in plugin.beside:
            for key in tables.keys:
                if key in given and not is_installed(plugin.name):
                    raise missing_plugin(f"the table {key} of judgments", plugin.name)


def load_modules_that_save(place: PlaceInSaves) -> list[ModuleType]:
    """Return the modules of plugins that keep something at a place of saved evaluations, in their order."""
    modules = []
    for plugin in list_installed():
        for kept in plugin.kept:
            if getattr(kept, place):
                modules.append(import_module(kept.module))
    return modules


def load_modules_that_read(place: PlaceInSaves, keys: Iterable[str]) -> list[ModuleType]:
    """Return the modules of plugins to which some of these keys of a saved evaluation belong, in their order.

    Raises
    ------
    MissingPluginError
        A key belongs to a plugin that is not there.
    """
    given = set(keys)
    modules = []
    for plugin in registry().plugins:
        for kept in plugin.kept:
            keys_of_plugin = [key for key in getattr(kept, place) if key in given]
            if not keys_of_plugin:
                continue
            if not is_installed(plugin.name):
                raise missing_plugin(f"{keys_of_plugin[0]} of a saved evaluation", plugin.name)
            modules.append(import_module(kept.module))
    return modules


@cache
def features() -> dict[str, Feature]:
    """Return what may be asked of an evaluation or its result, by name, in the order of the registry."""
    by_name = {}
    for plugin in list_installed():
        for feature in plugin.features:
            by_name[feature.name] = feature
    return by_name


def goes_with(feature: Feature, other: str, value: object = None) -> bool:
    """Tell whether a feature says that it goes with another one, or with this value of it."""
    return other in feature.goes_with or f"{other}={value}" in feature.goes_with


def describe_use_of_saved(kind: str) -> str | None:
    """Say what takes saved documents of a kind, or which plugin is missing that does; None for an unknown kind."""
    for plugin in registry().plugins:
        for document in plugin.saved:
            if document.kind != kind:
                continue
            if is_installed(plugin.name):
                return document.use
            what = f"a saved {kind.removeprefix('deadheat ')}"
            return str(missing_plugin(what, plugin.name))
    return None


def load_modules_for_settings(given: Mapping[str, object]) -> list[ModuleType]:
    """Return the modules that check the given settings, where these are of plugins; raise as :func:`check_setting`."""
    modules = {}
    for name, value in given.items():
        for plugin, settings in _owners_of_setting(name, value):
            if not is_installed(plugin.name):
                raise missing_plugin(f"{name}={value!r}", plugin.name)
            modules[settings.module] = import_module(settings.module)
    return list(modules.values())


def check_setting(name: str, value: object) -> None:
    """Raise `MissingPluginError` if a setting has a value of a plugin that is not there."""
    for plugin, _ in _owners_of_setting(name, value):
        if not is_installed(plugin.name):
            raise missing_plugin(f"{name}={value!r}", plugin.name)


def _owners_of_setting(name: str, value: object) -> Iterator[tuple[Plugin, PluginSettings]]:
    """Yield the plugins whose value of a setting this is; the value is not the default."""
    for plugin in registry().plugins:
        for settings in plugin.settings:
            if name not in settings.values:
                continue
            values = settings.values[name]
            if not values or value in values:  # an empty tuple stands for all but the default
                yield plugin, settings


def list_modules_of_options(name: str) -> list[str]:
    """Return the modules with a group of options, to which several plugins may add; those that are there."""
    is_known = False
    modules = []
    for plugin in registry().plugins:
        for group in plugin.options:
            if group.name == name:
                is_known = True
                if is_installed(plugin.name):
                    modules.append(group.module)
    if not is_known:
        raise KeyError(name)
    return modules


def needs_missing_option(text: str) -> bool:
    """Tell whether a text, such as an example of a command, names an option of a plugin that is not there.

    Examples
    --------
    >>> needs_missing_option("deadheat evaluate --spans spans.csv chunks.jsonl")
    False
    """
    for typed in re.findall(r"--[a-z-]+", text):
        plugin = find_plugin_of_option(typed)
        if plugin is not None and not is_installed(plugin):
            return True
    return False


def find_schemas() -> dict[str, Traversable]:
    """Return the JSON schemas of what commands print, by command: each in a folder ``schemas`` of its plugin."""
    from importlib.resources import files  # takes long to load

    by_command = {}
    for plugin in list_installed():
        folder = files(get_package(plugin)).joinpath("schemas")
        if folder.is_dir():
            for file in folder.iterdir():
                by_command[file.name.removesuffix(".json")] = file
    return by_command


def find_service(name: str) -> ModuleType | None:
    """Return the module that does something for the core; None if its plugin is not there."""
    entry, plugin = _find_entry(name)
    if not is_installed(plugin.name):
        return None
    return import_module(entry.module)


def service(name: str) -> ModuleType:
    """Return the module that does something for the core, such as ``rescoring``.

    Raises
    ------
    MissingPluginError
        The plugin that does it is not there.
    """
    entry, plugin = _find_entry(name)
    if not is_installed(plugin.name):
        raise missing_plugin(entry.what or name, plugin.name)
    return import_module(entry.module)


def _find_entry(name: str) -> tuple[Service, Plugin]:
    """Return the record of a service, and the plugin that has it; raise `KeyError` if there is none."""
    for plugin in registry().plugins:
        for entry in plugin.services:
            if entry.name == name:
                return entry, plugin
    raise KeyError(name)
