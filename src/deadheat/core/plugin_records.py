"""What a plugin is: the records in which `registry.py`, and plugins of other distributions, say what they add.

The record of a plugin is a `Plugin`. What needs more than the name of a module has a record of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

Kind = Literal[
    "measures",
    "readers",
    "dialects",
    "objects",
    "beside",
    "judgments",
    "inputs",
    "companions",
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
"""What modules register when they are imported: a plugin has a list of modules for each of these kinds."""


class Command(NamedTuple):
    """A command of the command line.

    Attributes
    ----------
    name : str
        What people type after ``deadheat``.
    module : str
        The module with the click command, a function of this name.
    help : str
        One line for ``deadheat --help``, which imports no command.
    """

    name: str
    module: str
    help: str


class OptionGroup(NamedTuple):
    """Options that a plugin adds to the commands that name the group.

    Attributes
    ----------
    name : str
        What commands call the group, such as ``other_judgments``; several plugins may add to one group.
    module : str
        The module with ``OPTIONS``, which has a click decorator for each parameter, in the order of the help.
    typed : tuple of str
        What people type for the options, such as ``--spans``.
    """

    name: str
    module: str
    typed: tuple[str, ...]


class QueryColumn(NamedTuple):
    """A column of the table of queries, by which something else than systems is compared, such as languages.

    Attributes
    ----------
    name : str
    module : str
        The module that compares it, with functions ``find`` and ``tell_absent``, as
        `deadheat.plugins.compare.companions` says.
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
    """A module that the core calls by the name of what it does.

    Attributes
    ----------
    name : str
        What it does, such as ``rescoring``.
    module : str
    what : str, default ""
        What the error calls it if its plugin is not installed; by default its name.
    """

    name: str
    module: str
    what: str = ""


class SavedDocument(NamedTuple):
    """A kind of JSON documents that deadheat writes and reads again.

    Attributes
    ----------
    kind : str
        What the document itself says it is, such as ``deadheat evaluation``.
    use : str
        What takes such a document: the error says it to somebody who gives one in place of qrels or a run.
    """

    kind: str
    use: str


class MeasureFile(NamedTuple):
    """A module with measures.

    Attributes
    ----------
    module : str
    names : tuple of str
        The names of its measures, which are those of their classes.
    aliases : tuple of str, default ()
        Other names of its measures. Only plugins state them: an error names the plugin even if it is not installed.
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
        The names of its formats, which ``format=`` takes.
    endings : tuple of str
        How the names of such files end, such as ``.csv``.
    """

    module: str
    names: tuple[str, ...]
    endings: tuple[str, ...]


class BesideTables(NamedTuple):
    """A module with tables beside the judgments.

    Attributes
    ----------
    module : str
        The module that registers them, as `deadheat.core.placements.beside` says.
    keys : tuple of str
        The attributes of `Qrels` that hold the tables, which are also their keys in saved files.
    """

    module: str
    keys: tuple[str, ...]


class PluginSettings(NamedTuple):
    """Settings of the core that only a plugin takes, or of which only a plugin takes some values.

    Attributes
    ----------
    module : str
        The module with ``check_settings``, which takes `Settings` with such a value, and raises `ParameterError` for
        what does not go with it.
    values : mapping of str to tuple of str
        The values of the plugin, by the name of the setting; an empty tuple stands for all but the default.
    """

    module: str
    values: Mapping[str, tuple[str, ...]]


class RunColumn(NamedTuple):
    """A column by which a table has several runs of one system.

    Attributes
    ----------
    name : str
    module : str
        The module with ``system_of``, a function that takes the runs, and whether they were read with the lowest
        scores first, and returns a `System`, as `deadheat.core.evaluation.systems` says.
    """

    name: str
    module: str


class SavedKeys(NamedTuple):
    """What a feature keeps in saved evaluations: a module, and the keys that are of the feature.

    Attributes
    ----------
    module : str
        The module with ``KEPT``, a `Kept` of `deadheat.core.evaluation.kept`.
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
"""The fields of `SavedKeys` that have keys."""


class Feature(NamedTuple):
    """Something that is asked of an evaluation or of its result, and what it goes with.

    Two features go together if either says so; any other pair is refused.

    Attributes
    ----------
    name : str
        An argument, such as ``judge``; what is given, such as ``spans``; or a use of results, such as ``leaderboard``.
        If the feature has a part of scores, this is also the key of the part.
    goes_with : tuple of str
        The names of other features, also of plugins that may not be installed; ``ties=doc_id`` is one value of an
        argument.
    argument : str, default ""
        The argument of `evaluate` that asks for it, if that has another name; for what is given, the argument that
        takes it, such as ``run``.
    kind : {"argument", "given", "use"}, default "argument"
        How it is asked for: by an argument of `evaluate`, by what is given to an argument, or by a use of the result.
    what : str, default ""
        What messages call results with the feature, such as "systems with repeats", or a use, such as "a leaderboard".
    hints : mapping of str to str, default {}
        What to do instead, by the name of the other feature; under "" for any use of results with this feature.
    """

    name: str
    goes_with: tuple[str, ...]
    argument: str = ""
    kind: Literal["argument", "given", "use"] = "argument"
    what: str = ""
    hints: Mapping[str, str] = MappingProxyType({})


class Plugin(NamedTuple):
    """A plugin: a folder, and what it adds. Modules are named in texts: to make this record imports none of them.

    Attributes
    ----------
    name : str
        By default also the name of its folder in `deadheat.plugins`.
    help : str
        What it is for, in one line.
    requires : tuple of str, default ()
        The names of other plugins that it imports.
    package : str, default ""
        Its package, if that is not the folder of its name.
    commands : tuple of Command, default ()
    options : tuple of OptionGroup, default ()
    measures : tuple of MeasureFile, default ()
    readers : tuple of FileFormats, default ()
    dialects, objects, formats, reports, pages, figures : tuple of str, default ()
        Modules that register something when they are imported: how single tools write tables of text, readers of
        objects and JSON documents of other libraries, formats of reports, reports of results, their pages, and figures.
    beside : tuple of BesideTables, default ()
    judgments : tuple of str, default ()
        Modules with an option that takes other judgments in the place of QRELS: ``JUDGMENTS``, a `JudgmentsOption` of
        the command line.
    inputs : tuple of str, default ()
        Modules with an option under which commands read their files in another way: ``INPUT``, an `InputOption` of the
        command line.
    companions : tuple of str, default ()
        Modules with options under which commands write files beside their reports: ``COMPANION``, a `ReportCompanion`
        of the command line.
    facts : tuple of str, default ()
        Modules with what a feature adds to reports: ``facts_of_evaluations`` takes evaluations of one kind,
        ``facts_of_comparison`` takes comparisons by stratum; both return facts.
    evaluations : tuple of str, default ()
        Modules with another way to evaluate what the command ``evaluate`` is given: ``is_for`` takes an
        `EvaluationRequest` of the command line and tells whether it is for this module; then ``print_report`` takes it.
    modes : tuple of str, default ()
        Modules with what a feature changes in how a run is evaluated: ``MODE``, a `Mode`.
    values : tuple of str, default ()
        Modules with evaluations of which others computed the values: ``is_values`` takes the path of a file and tells
        whether it holds some, ``read_values`` takes a path or an object, and returns evaluations by system.
    sections : tuple of str, default ()
        Modules with a section of a page: ``section`` takes evaluations by system, and returns a `Report` whose heading
        is that of the section, or None.
    pairs : tuple of str, default ()
        Modules with what a feature makes of the pairs of a comparison: ``PART``, a `PairPart`.
    settings : tuple of PluginSettings, default ()
    services : tuple of Service, default ()
    run_columns : tuple of RunColumn, default ()
    systems : tuple of str, default ()
        Modules with an option that gives systems of several runs: ``SYSTEMS``, a `SystemsOption` of the command line.
    evaluators : tuple of str, default ()
        Modules with an option whose file changes how runs are evaluated: ``EVALUATOR``, an `EvaluatorOption` of the
        command line.
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
    companions: tuple[str, ...] = ()
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
    """All plugins, and the order of what several of them add; what an order does not name comes last.

    Attributes
    ----------
    plugins : tuple of Plugin
        In the order in which the things that they add are listed.
    commands : tuple of str
        The order of commands in the help.
    measures : tuple of str
        The order of measures in the catalogue.
    formats : tuple of str
        The order in which formats of files are listed, and in which each is asked whether a file is of this format.
    interval_steps : tuple of str
        The order in which parts of scores, by their keys, change the interval of a mean.
    """

    plugins: tuple[Plugin, ...]
    commands: tuple[str, ...]
    measures: tuple[str, ...]
    formats: tuple[str, ...]
    interval_steps: tuple[str, ...]
