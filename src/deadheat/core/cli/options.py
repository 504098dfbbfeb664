"""The options that several commands take, each said once; a command lists them by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, fields
from importlib import import_module
from pkgutil import resolve_name
from typing import Any, TypeAlias

import click

from deadheat.core import hooks
from deadheat.core.cli.help import Command, flags, option
from deadheat.core.cli.parsing import n_bytes, parsed_formats, parsed_names
from deadheat.core.cli.paths import INPUT
from deadheat.core.design import Design
from deadheat.core.saving import Rejudging, Saving
from deadheat.core.settings import TIES, Conventions, Estimation, Settings, describe_policies

AddOption: TypeAlias = Callable[[Any], Any]
"""A decorator that gives a command an option."""
Complete: TypeAlias = Callable[[click.Context, click.Parameter, str], list[str]]
"""A shell completion: takes what was typed so far."""
TYPES = {"float": float, "float | None": float, "int": int, "int | None": int}  # of a field; others are text


def complete_from(source: str) -> Complete:
    """Return a shell completion with the words of ``module:attribute``, or those that it returns.

    The module is imported then: NumPy takes long to load.
    """

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
        words = resolve_name(source)
        if callable(words):
            words = words()
        return [word for word in words if word.startswith(incomplete)]

    return complete


def _entering(
    source: str, parsed: Callable[[str], object] = str
) -> Callable[[click.Context, click.Parameter, str | None], None]:
    """Return a callback that enters ``module:attribute``, a context manager, with what was given."""

    def enter(ctx: click.Context, _: click.Parameter, text: str | None) -> None:
        if text is not None:
            ctx.with_resource(resolve_name(source)(parsed(text)))

    return enter


def options_of(settings: type[Settings], heading: str, *, group: str = "", shown: bool = True) -> dict[str, AddOption]:
    """Return the options of a class of settings, each by the name of its field.

    Parameters
    ----------
    settings : type
    heading : str
        Of --help-all, for those that have no other.
    group : str, default ""
        Those of a group of a plugin; by default those of no group.
    shown : bool, default True
        Whether an option has its default; else it is None, which tells that it was not given.
    """
    options = {}
    for field in fields(settings):
        if field.metadata.get("help") and field.metadata["group"] == group:
            options[field.name] = _option(field, field.metadata, heading, shown=shown)
    return options


def _ties_but(*without: str) -> AddOption:
    """Return the option of tie policies for a command that refuses some."""
    allowed = tuple(policy for policy in TIES if policy not in without)
    field = Conventions.__dataclass_fields__["ties"]
    metadata = {**field.metadata, "allowed": allowed, "help": describe_policies(allowed)}
    return _option(field, metadata, "ties", shown=True)


def _option(field: Field[Any], metadata: Mapping[str, Any], heading: str, *, shown: bool) -> AddOption:
    """Return the option of a setting, by its metadata."""
    names = metadata["option"].split() or [f"--{field.name.replace('_', '-')}"]
    allowed = metadata["allowed"]
    words = allowed if isinstance(allowed, tuple) else ()
    help_text = metadata["help"]
    if not shown and not words:
        help_text += f" Default: {field.default}."
    arguments: dict[str, Any] = {}
    if field.type == "bool":
        arguments["is_flag"] = True
    else:
        arguments["type"] = TYPES.get(str(field.type))
        if shown:
            arguments["default"] = field.default
            arguments["show_default"] = field.default is not None
    if words:
        arguments["shell_complete"] = _complete_among(words)
    return option(
        *names,
        field.name,
        heading=metadata["help_heading"] or heading,
        rank=metadata["rank"],
        metavar=metadata["metavar"] or "|".join(words) or None,
        help=help_text,
        **arguments,
    )


def _complete_among(words: Sequence[str]) -> Complete:
    """Return a shell completion with some words."""

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


_OF_CONVENTIONS = options_of(Conventions, "measures")
_OF_INTERVALS = options_of(Estimation, "statistics", shown=False)
FILE: dict[str, Any] = {"type": INPUT, "metavar": "FILE"}
OPTIONS: dict[str, AddOption] = {}
"""What gives a command an option, by the name with which :func:`with_options` asks for it."""

# measures and ties
OPTIONS["measures"] = option(
    "-m",
    "--measure",
    "notations",
    multiple=True,
    metavar="MEASURE",
    shell_complete=complete_from("deadheat.core.hooks:list_measures"),
    help="A measure such as nDCG@10, 'P(rel=2)@5' or ndcg_cut_10, or several with spaces between; may be repeated."
    " 'trec' is most of what trec_eval prints.",
    heading="measures",
    rank=10,
)
OPTIONS |= _OF_CONVENTIONS
OPTIONS["ties_not_drawn"] = _ties_but("random")
OPTIONS["ties_in_steps"] = _ties_but("doc_id", "input", "random")
OPTIONS["beside"] = option(
    "--beside",
    type=click.Choice(["doc_id", "input"]),
    metavar="doc_id|input",
    help="Show the values with ties broken by document id, as trec_eval, or in the order of the file too: another"
    " column.",
    heading="ties",
)
OPTIONS["then_by"] = option(
    "--then-by",
    type=INPUT,
    multiple=True,
    metavar="RUN_OR_COLUMN",
    help="Order ties by the scores of this run, such as the first stage's, or by another column of the same file;"
    " several, in order. What still ties is averaged; a document that it lacks comes last.",
    heading="ties",
)

# statistics, strata and weights
OPTIONS |= options_of(Design, "statistics")
OPTIONS |= options_of(Rejudging, "statistics")
OPTIONS |= _OF_INTERVALS
OPTIONS["cluster"] = option(
    "--cluster",
    metavar="COLUMN",
    help="Resample the queries that share a value of this column of --queries (a document, a user) as a whole.",
    heading="statistics",
)
OPTIONS["seed"] = option(
    "--rng",
    "seed",
    type=click.IntRange(0),
    metavar="SEED",
    default=0,
    help="Seed; default 0.",
    heading="statistics",
)
OPTIONS["baseline"] = option(
    "--baseline",
    multiple=True,
    metavar="RUN",
    help="Compare all others with this run; by default every pair. May be repeated.",
    heading="statistics",
    rank=30,
)
OPTIONS["margin"] = option(
    "--margin",
    type=click.FloatRange(0, min_open=True),
    help="Also test that a system is no worse, by this margin, than the baseline, or than each run before it.",
    heading="statistics",
    rank=150,
)
OPTIONS["by"] = option(
    "--by",
    multiple=True,
    metavar="COLUMN",
    help="Report by the values of a column of --queries (a query with a|b counts in both); if it is repeated, by"
    " each column in a table of its own. a:b: by the combinations of two columns. Several languages stay apart.",
    heading="statistics",
    rank=70,
)
OPTIONS["weights"] = option(
    "--weights",
    metavar="COLUMN",
    help="Weigh queries in means by this column of --queries, such as how often each is asked; totals have no weights.",
    heading="statistics",
)
OPTIONS["pool_languages"] = option(
    "--pool-languages",
    is_flag=True,
    help="Let queries in different languages count in one mean.",
    heading="statistics",
)

# saved evaluations
OPTIONS |= options_of(Saving, "output")
OPTIONS["label"] = option(
    "--label", metavar="TEXT", help="A label in the saved file [default: the branch].", heading="output"
)
OPTIONS["commit"] = option(
    "--commit",
    metavar="HASH",
    help="The commit in the saved file [default: as git or the CI's environment say].",
    heading="output",
)

# files that are read
OPTIONS["queries"] = option(
    "--queries",
    **FILE,
    help="A table of queries: query_id, and columns such as language. Queries in several languages are reported"
    " by language.",
    heading="input",
    rank=60,
)
OPTIONS["decimal"] = option(
    "--decimal",
    type=click.Choice([",", "."]),
    expose_value=False,
    callback=_entering("deadheat.core.io.decimals:decimal"),
    help="Decimal mark of numbers in CSV, TSV and TREC files; the other mark may group thousands [default: a point;"
    " with semicolons also a comma, where it can be nothing else].",
    heading="input",
)
OPTIONS["encoding"] = option(
    "--encoding",
    metavar="NAME",
    expose_value=False,
    callback=_entering("deadheat.core.io.records:encoding"),
    help="The encoding of CSV and TSV files that are not UTF-8: cp1252 for CSV from Excel in Western Europe.",
    heading="input",
)
OPTIONS["columns"] = option(
    "--columns",
    metavar="NAME=COLUMN,...",
    multiple=True,
    callback=parsed_names,
    help="Names of columns that are not recognised, such as doc_id=hit,score=similarity; of one kind of files as in"
    " run.doc_id=hit.",
    heading="input",
)
OPTIONS["file_formats"] = option(
    "--input-format",
    "file_formats",
    metavar="FORMAT",
    callback=parsed_formats,
    help="Format of the files of qrels and runs, such as msmarco; default: by their names. Of one kind of files as"
    " in run=msmarco.",
    heading="input",
)
OPTIONS["ascending"] = option(
    "--ascending", is_flag=True, help="Lower scores rank first, as of distances.", heading="input"
)
OPTIONS["normalize_ids"] = option(
    "--normalize-ids",
    metavar="FORM",
    help="Read ids of qrels and runs in one form of Unicode: NFC, NFD, NFKC or NFKD.",
    heading="input",
)
OPTIONS["collection"] = option(
    "--collection",
    **FILE,
    help="All documents that exist: a table or corpus as of bench, or one id a line. Relevant documents that are"
    " not in it are counted and named.",
    heading="input",
)
OPTIONS["strict"] = option(
    "--strict", is_flag=True, help="Relevant documents that are not in --collection are an error.", heading="input"
)
OPTIONS["duplicates"] = option(
    "--duplicates",
    type=click.Choice(["error", "best", "first", "trust"]),
    metavar="error|best|first|trust",
    default="error",
    help="A document that a run has twice for a query, such as one of which several chunks are found: an error"
    " (default), its best score, or its first row. trust: nobody looks for any, and only judged ones are an error."
    " Judgments that come twice are merged, or an error if they contradict each other.",
    heading="input",
)
OPTIONS["doc_id_of"] = option(
    "--doc-id-of",
    metavar="SEPARATOR|RE",
    help="Ids of runs are those of chunks, and judgments are of documents: '#' takes what stands before the last #,"
    " '(.+)_chunk[0-9]+$' what its group finds. Needs --duplicates best or first.",
    heading="input",
)
OPTIONS["max_memory"] = option(
    "--max-memory",
    metavar="BYTES",
    expose_value=False,
    callback=_entering("deadheat.core.io.memory_limits:max_memory", n_bytes),
    help="About how much memory the rows of a run may take, such as 500MB: a larger one is read in blocks"
    " [default: from 1.5 GB of TREC or 4 million rows of Parquet on]. More than 4 GB also lets the content of a"
    " compressed file, Parquet or a pipe take so much [default: 4 GB, or 200 times the size of the file].",
    heading="input",
)

# files of cases, which deadheat bench reads
OPTIONS["id_pattern"] = option(
    "--id-pattern",
    metavar="RE",
    help="Pattern that every expected id must match as a whole; default: HP: and seven digits for expected_hpo_ids.",
    heading="input",
)
OPTIONS["language"] = option(
    "--language", metavar="CODE", help="The language of cases whose file names none, such as de.", heading="input"
)
OPTIONS["input_format"] = option(
    "--input-format",
    metavar="json|jsonl|csv|tsv|xlsx",
    help="Format of the files, as for standard input; default: by their names.",
    heading="input",
)
OPTIONS["fields"] = option(
    "--columns",
    metavar="FIELD=COLUMN,...",
    callback=parsed_names,
    help="Names of fields that are not recognised, such as text=symptom,expected_ids=term.",
    heading="input",
)
OPTIONS["flags"] = flags

LISTS = tuple(name for name in _OF_CONVENTIONS if name != "ties")
SAVING = ("save_depth", "label", "commit", "replace")
INTERVALS = tuple(_OF_INTERVALS)
TESTS = tuple(name for name in options_of(Design, "statistics") if name not in INTERVALS)
STRATA = ("queries", "weights", "by", "pool_languages")
READING = ("decimal", "columns", "file_formats", "grades", "ascending", "normalize_ids", "exclude")
COLLECTION = ("collection", "strict")
LIMITS = ("max_memory",)
CASES = ("id_pattern", "language", "input_format", "encoding", "fields")
LAST = ("doc_id_of", "duplicates", *LIMITS, "flags")
# not for saved evaluations, except --decimal, which tables of queries need too
OF_EVALUATING = (
    *("notations", "ties", *LISTS, "then_by", *READING[1:], "doc_id_of", "duplicates", *COLLECTION),
    *("unjudged", "unjudged_max_rel", "engine", "spark_master", "spark_conf"),
)


def with_options(*names: str) -> AddOption:
    """Return a decorator that gives a command options, in the order in which its help lists them.

    Parameters
    ----------
    *names : str
        Each the name of one of `OPTIONS`; or of a group of options that plugins add, such as ``other_judgments``, or of
        one of them, such as ``other_judgments.documents``: there is none if the plugin is not there.
    """

    def decorate(command: Any) -> Any:  # noqa: ANN401 - click's
        for name in reversed(names):
            for add_option in reversed(_options_named(name)):
                command = add_option(command)
        return command

    return decorate


def _options_named(name: str) -> Sequence[AddOption]:
    """Return one of `OPTIONS`, or those of a group, or one of these."""
    if name in OPTIONS:
        return [OPTIONS[name]]
    group, _, parameter = name.partition(".")
    options: dict[str, AddOption] = {}
    for module in hooks.list_modules_of_options(group):
        options |= import_module(module).OPTIONS
    if not parameter:
        return list(options.values())
    return [options[parameter]] if parameter in options else []


def command(*lines: str, kind: type[Command] = Command) -> Callable[[Callable[..., Any]], Command]:
    """Return what makes a function a command with short help and these examples, the most useful first."""

    def decorate(function: Callable[..., Any]) -> Command:
        return click.command(function.__name__, cls=kind, examples=lines)(function)

    return decorate
