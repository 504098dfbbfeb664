"""The plugins, and what each adds to the core: looked up by kind, loaded when it is needed, and missed by name.

The core asks here, and names no plugin. `registry.py` says which plugins there are, and is read when the
first thing is looked up. A plugin whose folder is gone, or that requires one that is gone, adds nothing:
what it would have added is a `MissingPluginError` that names it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from deadheat.core.errors import MissingPluginError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

CORE = "deadheat.core"
FOLDER = "deadheat.plugins"
PLUGINS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "plugins")  # noqa: PTH118, PTH120 - fast

Kind = Literal[
    "measures",
    "readers",
    "dialects",
    "objects",
    "beside",
    "judgments",
    "inputs",
    "evaluations",
    "systems",
    "evaluators",
    "modes",
    "values",
    "pairs",
    "formats",
    "reports",
    "facts",
    "pages",
    "sections",
    "figures",
]
"""What a module registers when it is imported: one list of modules for each of these kinds."""


class Command(NamedTuple):
    """A command of the command line.

    Attributes
    ----------
    name : str
        What people type after ``deadheat``.
    module : str
        Where it is: a function of this name there, a click command.
    help : str
        One line for ``deadheat --help``, which imports no command.
    """

    name: str
    module: str
    help: str


class OptionGroup(NamedTuple):
    """Options that a plugin adds to commands, which name the group where they want its options.

    Attributes
    ----------
    name : str
        What commands call the group, such as ``other_judgments``; several plugins may add to one.
    module : str
        Where they are: its ``OPTIONS`` has a decorator of click for each parameter, in the order of the help.
    typed : tuple of str
        What people type for them, such as ``--spans``.
    """

    name: str
    module: str
    typed: tuple[str, ...]


class QueryColumn(NamedTuple):
    """A column of the table of queries, by which something is compared beside systems.

    Attributes
    ----------
    name : str
    module : str
        Where that is: functions ``find`` and ``tell_absent``, as `deadheat.plugins.compare.companions` says.
    """

    name: str
    module: str


class CommandTables(NamedTuple):
    """Tables that a plugin adds to what a command of the core prints.

    Attributes
    ----------
    command : str
    names : tuple of str
        Their keys in JSON, which ``--table`` takes.
    """

    command: str
    names: tuple[str, ...]


class Service(NamedTuple):
    """A module that the core calls by the name of what it does, such as ``rescoring``.

    Attributes
    ----------
    name : str
    module : str
    what : str, default ""
        What messages call it where its plugin is not there; by default its name.
    """

    name: str
    module: str
    what: str = ""


class SavedDocument(NamedTuple):
    """A kind of JSON documents that deadheat writes and reads again.

    Attributes
    ----------
    kind : str
        What a document says that it is.
    use : str
        What takes one, said to who gives it in place of qrels or a run.
    """

    kind: str
    use: str


class MeasureFile(NamedTuple):
    """A module with measures.

    Attributes
    ----------
    module : str
    names : tuple of str
        The names of its measures, which are their classes.
    aliases : tuple of str, default ()
        Other names by which they are read. Only a file of a plugin states them, for who asks without the plugin.
    """

    module: str
    names: tuple[str, ...]
    aliases: tuple[str, ...] = ()


class FileFormats(NamedTuple):
    """A module with formats of files that hold qrels or runs.

    Attributes
    ----------
    module : str
    names : tuple of str
        What ``format=`` takes.
    endings : tuple of str
        How the names of such files end.
    """

    module: str
    names: tuple[str, ...]
    endings: tuple[str, ...]


class BesideTables(NamedTuple):
    """A module with tables beside the judgments.

    Attributes
    ----------
    module : str
        Where they are registered, as `deadheat.core.placements.beside` says.
    keys : tuple of str
        The attributes of `Qrels` that hold them, and their keys in saved files.
    """

    module: str
    keys: tuple[str, ...]


class PluginSettings(NamedTuple):
    """Settings of the core that are of a plugin, or of which it takes some values.

    Attributes
    ----------
    module : str
        Where they are checked: its ``check_settings`` takes the `Settings` that have one of them, and raises
        `ParameterError` for what does not go with it.
    values : mapping of str to tuple of str
        The values by the name of the setting; none: any that is not the default.
    """

    module: str
    values: Mapping[str, tuple[str, ...]]


class RunColumn(NamedTuple):
    """A column that tells the runs of one system apart, which are in one table.

    Attributes
    ----------
    name : str
    module : str
        Where that is: a function ``system_of`` that takes the runs, and whether they were read with the lowest scores
        first, and returns a `System`, as `deadheat.core.evaluation.systems` says.
    """

    name: str
    module: str


class SavedKeys(NamedTuple):
    """A module with what a feature keeps in saved evaluations, and the keys by which it is known.

    Attributes
    ----------
    module : str
        Where that is: its ``KEPT``, as `deadheat.core.evaluation.kept` says.
    judgments, ranking, measures : tuple of str, default ()
        Keys of what a file says of the judgments, of the ranking, and of each measure.
    table : tuple of str, default ()
        The key of a table of a part of scores.
    columns : tuple of str, default ()
        Columns of the table of scores.
    """

    module: str
    judgments: tuple[str, ...] = ()
    ranking: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    table: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


PlaceInSaves = Literal["judgments", "ranking", "measures", "table", "columns"]


class Feature(NamedTuple):
    """Something that is asked of an evaluation or of its result, and what it goes with.

    Two of them go together if either says so. What neither says is refused.

    Attributes
    ----------
    name : str
        An argument, such as ``judge``; what is given, such as ``spans``; or a use of results, such as ``leaderboard``.
        It is the key of the part of scores too, if the feature has one.
    goes_with : tuple of str
        The names of others; ``ties=doc_id`` is one value of an argument. They may be of plugins that are not there.
    argument : str, default ""
        The argument of `evaluate` that asks for it, if it has another name; of what is given, the argument that takes
        it, such as ``run``.
    kind : {"argument", "given", "use"}, default "argument"
        How it is asked for: by an argument of `evaluate`, by what is given to one, or by what is done with the result.
    what : str, default ""
        How messages call results with it, such as "systems with repeats", or a use, such as "a leaderboard".
    hints : mapping of str to str, default {}
        What to do instead, by the name of the other feature; of what results have, under "" for any use of them.
    """

    name: str
    goes_with: tuple[str, ...]
    argument: str = ""
    kind: Literal["argument", "given", "use"] = "argument"
    what: str = ""
    hints: Mapping[str, str] = MappingProxyType({})


class Plugin(NamedTuple):
    """A feature: one folder, and what it adds. Nothing of it is imported to make this record.

    Attributes
    ----------
    name : str
        Also that of its folder in `deadheat.plugins`; the core has its own.
    help : str
        What it is for, in one line.
    requires : tuple of str, default ()
        Other plugins that it imports.
    package : str, default ""
        Its package; by default the folder of its name.
    commands : tuple of Command, default ()
    options : tuple of OptionGroup, default ()
    measures : tuple of MeasureFile, default ()
    readers : tuple of FileFormats, default ()
    dialects, objects, formats, reports, pages, figures : tuple of str, default ()
        Modules that register, when they are imported: how single tools write tables of text, readers of objects and
        JSON documents of other libraries, formats of reports, the reports of results, their pages, and figures.
    beside : tuple of BesideTables, default ()
    judgments : tuple of str, default ()
        Modules with an option that takes other judgments in the place of QRELS: ``JUDGMENTS``, a `JudgmentsOption` of
        the command line.
    inputs : tuple of str, default ()
        Modules with an option under which commands read their files in another way: ``INPUT``, an `InputOption` of the
        command line.
    facts : tuple of str, default ()
        Modules with what a feature says in reports: ``facts_of_evaluations`` takes evaluations of one kind,
        ``facts_of_comparison`` comparisons by stratum; both return facts.
    evaluations : tuple of str, default ()
        Modules with another way to evaluate what the command ``evaluate`` is given: ``is_for`` takes an
        `EvaluationRequest` of the command line and tells whether it is for this module, ``print_report`` takes it then.
    modes : tuple of str, default ()
        Modules with what a feature changes in how a run is evaluated: ``MODE``, a `Mode`.
    values : tuple of str, default ()
        Modules with evaluations of which others computed the values: ``is_values`` takes the path of a file and tells
        whether it holds some, ``read_values`` takes a path or an object, and returns evaluations by system.
    sections : tuple of str, default ()
        Modules with a section of a page: ``section`` takes evaluations by system, and returns a `Report`, whose heading
        is that of the section, or None.
    pairs : tuple of str, default ()
        Modules with what a feature makes of the pairs of a comparison: ``PART``, a `PairPart`.
    settings : tuple of PluginSettings, default ()
    services : tuple of Service, default ()
    run_columns : tuple of RunColumn, default ()
    systems : tuple of str, default ()
        Modules with an option that gives systems of several runs: ``SYSTEMS``, a `SystemsOption` of the command line.
    evaluators : tuple of str, default ()
        Modules with an option with whose file runs are evaluated: ``EVALUATOR``, an `EvaluatorOption` of the command
        line.
    query_columns : tuple of QueryColumn, default ()
    tables : tuple of CommandTables, default ()
    saved : tuple of SavedDocument, default ()
    kept : tuple of SavedKeys, default ()
        What it keeps in saved evaluations.
    features : tuple of Feature, default ()
        What may be asked of an evaluation or its result, and what it goes with.
    """

    name: str
    help: str
    requires: tuple[str, ...] = ()
    package: str = ""
    commands: tuple[Command, ...] = ()
    options: tuple[OptionGroup, ...] = ()
    measures: tuple[MeasureFile, ...] = ()
    readers: tuple[FileFormats, ...] = ()
    dialects: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    beside: tuple[BesideTables, ...] = ()
    judgments: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    evaluations: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    settings: tuple[PluginSettings, ...] = ()
    services: tuple[Service, ...] = ()
    run_columns: tuple[RunColumn, ...] = ()
    systems: tuple[str, ...] = ()
    evaluators: tuple[str, ...] = ()
    query_columns: tuple[QueryColumn, ...] = ()
    tables: tuple[CommandTables, ...] = ()
    saved: tuple[SavedDocument, ...] = ()
    kept: tuple[SavedKeys, ...] = ()
    features: tuple[Feature, ...] = ()


class Registry(NamedTuple):
    """What there is, and the order of what several plugins add; what an order does not name comes last.

    Attributes
    ----------
    plugins : tuple of Plugin
        In the order in which what they add is listed.
    commands : tuple of str
        The order of commands in the help.
    measures : tuple of str
        The order of measures in the catalogue.
    formats : tuple of str
        The order in which formats of files are listed, and asked whether a file is theirs.
    interval_steps : tuple of str
        The order in which parts of scores, by their keys, change the interval of a mean.
    """

    plugins: tuple[Plugin, ...]
    commands: tuple[str, ...]
    measures: tuple[str, ...]
    formats: tuple[str, ...]
    interval_steps: tuple[str, ...]


_in_use: list[Registry] = []  # one, once somebody has asked


def registry() -> Registry:
    """Return what `registry.py` says, which is read when somebody asks: ``import deadheat`` does not."""
    if not _in_use:
        use(import_module("deadheat.registry").REGISTRY)
    return _in_use[0]


def use(known: Registry) -> None:
    """Take another registry, as tests of hooks do."""
    _in_use[:] = [known]
    for cached in (is_installed, installed, commands_by_name, names_beside, columns_of_runs, load, features):
        cached.cache_clear()


def plugin_named(name: str) -> Plugin:
    """Return the plugin of a name."""
    for plugin in registry().plugins:
        if plugin.name == name:
            return plugin
    raise KeyError(name)


def package_of(plugin: Plugin) -> str:
    """Return the package of a plugin: by default the folder of its name."""
    return plugin.package or f"{FOLDER}.{plugin.name}"


def is_there(package: str) -> bool:
    """Tell whether a package is there: of one in our folder by its file, which is faster than find_spec."""
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
    plugin = plugin_named(name)
    if not is_there(package_of(plugin)):
        return False
    return all(is_installed(required) for required in plugin.requires)


@cache
def installed() -> tuple[Plugin, ...]:
    """Return the plugins that are there, in their order."""
    return tuple(plugin for plugin in registry().plugins if is_installed(plugin.name))


def plugin_of(module: str) -> str | None:
    """Return the name of the plugin that a module belongs to; None for one of the core.

    Examples
    --------
    >>> plugin_of("deadheat.plugins.gates.gate"), plugin_of("deadheat.core.errors")
    ('gates', None)
    """
    if not module.startswith(f"{FOLDER}."):
        return None
    return module.removeprefix(f"{FOLDER}.").partition(".")[0]


def homes_in(stub: Path) -> dict[str, str]:
    """Return the module of each name that a stub imports from modules of deadheat."""
    imports = re.findall(r"^from (deadheat\.\S+) import ([\w, ]+|\([^)]*\))$", stub.read_text("utf-8"), re.MULTILINE)
    return {name: module for module, names in imports for name in re.findall(r"\w+", names)}


def missing_plugin(what: str, name: str) -> MissingPluginError:
    """Return the error for something that belongs to a plugin that is not there, or lacks one that it requires.

    Examples
    --------
    >>> str(missing_plugin("--spans", "spans"))
    '--spans is of the plugin spans, which is not installed'
    """
    absent = absent_requirements(name)
    if not absent:
        return MissingPluginError(f"{what} is of the plugin {name}, which is not installed")
    return MissingPluginError(
        f"{what} is of the plugin {name}, which needs the plugin {absent[0]}, which is not installed"
    )


def absent_requirements(name: str) -> list[str]:
    """Return the plugins that a plugin requires and that cannot be used; none for a plugin that is not known."""
    try:
        plugin = plugin_named(name)
    except KeyError:
        return []
    return [required for required in plugin.requires if not is_installed(required)]


def missing_of_kind(kind: Kind) -> tuple[str, ...]:
    """Return the plugins that register things of a kind and are not there."""
    missing = []
    for plugin in registry().plugins:
        if modules_of(plugin, kind) and not is_installed(plugin.name):
            missing.append(plugin.name)
    return tuple(missing)


def advice_on_missing(what: str, kind: Kind) -> str:
    """Return a hint on plugins that are not there and may know what something is; empty if all are there."""
    return "; ".join(str(missing_plugin(what, name)) for name in missing_of_kind(kind))


def check_installed(what: str, module: str) -> None:
    """Raise `MissingPluginError` if a module belongs to a plugin that is not there."""
    name = plugin_of(module)
    if name is not None and not is_installed(name):
        raise missing_plugin(what, name)


@cache
def load(kind: Kind) -> tuple[ModuleType, ...]:
    """Import the modules that register things of a kind, in the order of the registry, and return them."""
    modules = []
    for plugin in installed():
        for module in modules_of(plugin, kind):
            modules.append(import_module(module))
    return tuple(modules)


Registered = TypeVar("Registered")


def in_order(kind: Kind, registered: Iterable[Registered], module_of: Callable[[Registered], str]) -> list[Registered]:
    """Load the modules of a kind, and return what they registered in the order of the registry.

    Which of them was imported first does not matter.

    Parameters
    ----------
    kind : str
    registered : iterable
        The list to which they add when they are loaded.
    module_of : callable
        Takes one of these, and returns the name of the module that registered it.
    """
    places = {module.__name__: place for place, module in enumerate(load(kind))}
    return sorted(registered, key=lambda one: places.get(module_of(one), len(places)))


def modules_of(plugin: Plugin, kind: Kind) -> tuple[str, ...]:
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
    found = {command.name: command for plugin in installed() for command in plugin.commands}
    ordered = {name: found[name] for name in registry().commands if name in found}
    return ordered | found


def plugin_of_command(name: str) -> str | None:
    """Return the plugin that has a command, installed or not; None where no plugin has it."""
    for plugin in registry().plugins:
        for command in plugin.commands:
            if command.name == name:
                return plugin.name
    return None


def plugin_of_option(typed: str) -> str | None:
    """Return the plugin that adds an option to commands, installed or not; None where none does."""
    for plugin in registry().plugins:
        for group in plugin.options:
            if typed in group.typed:
                return plugin.name
    return None


def tables_of(command: str) -> tuple[str, ...]:
    """Return the tables that plugins which are there add to a command."""
    names: list[str] = []
    for plugin in installed():
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


def modules_for_queries(columns: Iterable[str]) -> list[ModuleType]:
    """Return the modules that compare something by these columns of the table of queries."""
    names = set(columns)
    modules = []
    for plugin in installed():
        for column in plugin.query_columns:
            if column.name in names:
                modules.append(import_module(column.module))
    return modules


def missing_for_queries(columns: Iterable[str]) -> list[str]:
    """Say which of these columns of the table of queries are of plugins that are not there."""
    names = set(columns)
    texts = []
    for plugin in registry().plugins:
        for column in plugin.query_columns:
            if column.name in names and not is_installed(plugin.name):
                texts.append(str(missing_plugin(f"the column {column.name} of queries", plugin.name)))
    return texts


@cache
def columns_of_runs() -> tuple[str, ...]:
    """Return the columns of tables that tell runs of one system apart, also those of plugins that are not there."""
    return tuple(column.name for plugin in registry().plugins for column in plugin.run_columns)


def module_of_runs(name: str) -> ModuleType:
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


def plugin_of_measure(name: str) -> str | None:
    """Return the plugin that has a measure of this name or alias, installed or not; None where none has it."""
    folded = name.casefold()
    for plugin in registry().plugins:
        for file in plugin.measures:
            known = (*file.names, *file.aliases)
            if folded in {one.casefold() for one in known}:
                return plugin.name
    return None


def missing_measure(name: str) -> MissingPluginError | None:
    """Return the error for a measure, by name or alias, of a plugin that is not there; None for any other name."""
    plugin = plugin_of_measure(name)
    if plugin is None or is_installed(plugin):
        return None
    return missing_plugin(f"the measure {name}", plugin)


def names_of_measures() -> tuple[str, ...]:
    """Return the names of the measures that are there, in the order of the catalogue."""
    names = [name for plugin in installed() for file in plugin.measures for name in file.names]
    ordered = [name for name in registry().measures if name in names]
    others = [name for name in names if name not in ordered]
    return (*ordered, *others)


def names_of_formats() -> tuple[str, ...]:
    """Return the names of the formats of files that are there, in the order in which they are listed and asked."""
    names = [name for plugin in installed() for file in plugin.readers for name in file.names]
    ordered = [name for name in registry().formats if name in names]
    others = [name for name in names if name not in ordered]
    return (*ordered, *others)


def interval_steps(parts: Iterable[str]) -> list[str]:
    """Return the steps that change the interval of a mean: those that the registry names, then other parts."""
    order = registry().interval_steps
    others = [key for key in parts if key not in order]
    return [*order, *others]


def check_format(name: str) -> None:
    """Raise `MissingPluginError` if a format of files, by its name or ending, is of a plugin that is not there."""
    for plugin in registry().plugins:
        for file in plugin.readers:
            if name in {*file.names, *file.endings} and not is_installed(plugin.name):
                raise missing_plugin(f"the format {name}", plugin.name)


@cache
def names_beside() -> tuple[str, ...]:
    """Return the keys of the tables beside the judgments that are there, in the order of the registry."""
    return tuple(key for plugin in installed() for tables in plugin.beside for key in tables.keys)


def check_beside(keys: Iterable[str]) -> None:
    """Raise `MissingPluginError` if one of these is the key of a table of a plugin that is not there."""
    known = set(keys)
    for plugin in registry().plugins:
        for tables in plugin.beside:
            for key in tables.keys:
                if key in known and not is_installed(plugin.name):
                    raise missing_plugin(f"the table {key} of judgments", plugin.name)


def modules_that_save(place: PlaceInSaves) -> list[ModuleType]:
    """Return the modules of plugins that keep something at a place of saved evaluations, in their order."""
    modules = []
    for plugin in installed():
        for kept in plugin.kept:
            if getattr(kept, place):
                modules.append(import_module(kept.module))
    return modules


def modules_that_read(place: PlaceInSaves, keys: Iterable[str]) -> list[ModuleType]:
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
            own = [key for key in getattr(kept, place) if key in given]
            if own and not is_installed(plugin.name):
                raise missing_plugin(f"{own[0]} of a saved evaluation", plugin.name)
            if own:
                modules.append(import_module(kept.module))
    return modules


@cache
def features() -> dict[str, Feature]:
    """Return what may be asked of an evaluation or its result, by name, in the order of the registry."""
    return {feature.name: feature for plugin in installed() for feature in plugin.features}


def goes_with(feature: Feature, other: str, value: object = None) -> bool:
    """Tell whether a feature says that it goes with another one, or with this value of it."""
    return other in feature.goes_with or f"{other}={value}" in feature.goes_with


def use_of_saved(kind: str) -> str | None:
    """Say what takes saved documents of a kind, or which plugin does that is not there; None: there are none such."""
    for plugin in registry().plugins:
        for document in plugin.saved:
            if document.kind == kind and not is_installed(plugin.name):
                return str(missing_plugin(f"a saved {kind.removeprefix('deadheat ')}", plugin.name))
            if document.kind == kind:
                return document.use
    return None


def modules_for_settings(given: Mapping[str, object]) -> list[ModuleType]:
    """Return the modules that check settings of plugins, of those that are given; raise as :func:`check_setting`."""
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
    """Yield the plugins that take this value of a setting which is not its default."""
    for plugin in registry().plugins:
        for settings in plugin.settings:
            if name in settings.values and (not settings.values[name] or value in settings.values[name]):
                yield plugin, settings


def option_groups(name: str) -> list[str]:
    """Return the modules with a group of options, to which several plugins may add; those that are there."""
    groups = [(plugin, group) for plugin in registry().plugins for group in plugin.options if group.name == name]
    if not groups:
        raise KeyError(name)
    return [group.module for plugin, group in groups if is_installed(plugin.name)]


def needs_missing_option(text: str) -> bool:
    """Tell whether a text, such as an example of a command, names an option of a plugin that is not there.

    Examples
    --------
    >>> needs_missing_option("deadheat evaluate --spans spans.csv chunks.jsonl")
    False
    """
    plugins = [plugin_of_option(typed) for typed in re.findall(r"--[a-z-]+", text)]
    return any(plugin is not None and not is_installed(plugin) for plugin in plugins)


def schemas() -> dict[str, Traversable]:
    """Return the JSON schemas of what commands print, by command: each in a folder ``schemas`` of its plugin."""
    from importlib.resources import files  # takes long to load

    found = {}
    for plugin in installed():
        folder = files(package_of(plugin)).joinpath("schemas")
        if folder.is_dir():
            for file in folder.iterdir():
                found[file.name.removesuffix(".json")] = file
    return found


def find_service(name: str) -> ModuleType | None:
    """Return the module that does something for the core; None if its plugin is not there."""
    entry, plugin = _service(name)
    return import_module(entry.module) if is_installed(plugin.name) else None


def service(name: str) -> ModuleType:
    """Return the module that does something for the core, such as ``rescoring``.

    Raises
    ------
    MissingPluginError
        The plugin that does it is not there.
    """
    entry, plugin = _service(name)
    if not is_installed(plugin.name):
        raise missing_plugin(entry.what or name, plugin.name)
    return import_module(entry.module)


def _service(name: str) -> tuple[Service, Plugin]:
    for plugin in registry().plugins:
        for entry in plugin.services:
            if entry.name == name:
                return entry, plugin
    raise KeyError(name)
