"""The options that several commands take, each said once; a command lists them by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import Field, fields
from glob import glob
from importlib import import_module
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import click

import deadheat as dh
from deadheat import hooks
from deadheat.cli.app import refuse, refuse_if
from deadheat.cli.files import INPUT, PATH, shown_path
from deadheat.cli.help import Command, flags, option
from deadheat.errors import check_choice, load_libraries
from deadheat.settings import (
    PROPORTION,
    TIES,
    Conventions,
    Design,
    Estimation,
    Rejudging,
    Saving,
    Settings,
    meaning_of_ties,
)

if TYPE_CHECKING:
    from deadheat.evaluation.intervals import IntervalOptions
    from deadheat.measures import Measure
    from deadheat.report.of_evaluation import Grouping


SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(?:([kmgt])(i?)b?|b)?", re.IGNORECASE)
POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}
TYPES = {"float": float, "float | None": float, "int": int, "int | None": int}  # of a field; others are text


def complete_from(source: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a shell completion with the words of ``module:attribute``, imported then: NumPy takes long to load."""
    return lambda _, __, incomplete: [word for word in resolve_name(source) if word.startswith(incomplete)]


def _entering(
    source: str, parsed: Callable[[str], object] = str
) -> Callable[[click.Context, click.Parameter, str | None], None]:
    """Return a callback that enters ``module:attribute``, a context manager, with what was given."""

    def enter(ctx: click.Context, _: click.Parameter, text: str | None) -> None:
        if text is not None:
            ctx.with_resource(resolve_name(source)(parsed(text)))

    return enter


def n_bytes(text: str) -> int:
    """Return a number of bytes from 1 on, with a unit or without: ``GB`` is 10^9, ``GiB`` is 2^30.

    Examples
    --------
    >>> [n_bytes(text) for text in ("20000", "500MB", "1.5 GB", "2GiB", "3k")]
    [20000, 500000000, 1500000000, 2147483648, 3000]
    """
    found = SIZE.fullmatch(text.strip())
    if found is None:
        raise click.BadParameter(f"{text!r} is not a number of bytes: write 500000000, 500MB or 2GB")
    number, unit, is_binary = found.groups()
    factor = (1024 if is_binary else 1000) ** POWERS.get((unit or "").lower(), 0)
    size = int(float(number) * factor if "." in number else int(number) * factor)
    if size < 1:
        raise click.BadParameter(f"{text!r} is less than one byte")
    return size


def parsed_names(_: click.Context, option: click.Parameter, given: str | Sequence[str] | None) -> dict[str, str]:
    """Return the columns in ``doc_id=chunk,score=similarity`` by what they hold."""
    text = given if isinstance(given, str) else ",".join(given or ())
    pairs = [[word.strip() for word in part.partition("=")[::2]] for part in text.split(",") if part]
    if not all(name and found for name, found in pairs):
        example = "text=symptom,expected_ids=term" if option.metavar == "FIELD=COLUMN,..." else "doc_id=chunk,score=sim"
        raise click.BadParameter(f"write names as in {example}")
    if repeated := [name for n, (name, _) in enumerate(pairs) if name in dict(pairs[:n])]:
        raise click.BadParameter(f"{repeated[0]} is given more than once")
    return dict(pairs)


def parsed_numbers(_: click.Context, option: click.Parameter, text: str | None) -> tuple[int, ...] | None:
    """Read whole numbers such as ``1,5,10``: from 0 on for decimals, else from 1 on."""
    if text is None:
        return None
    parts, low = text.replace(",", " ").split(), int(option.name != "decimals")
    if not parts or not all(re.fullmatch("[0-9]{1,16}", part) and int(part) >= low for part in parts):
        raise click.BadParameter(f"expected whole numbers from {low} on, such as 1,5,10; got {text!r}")
    return tuple(sorted({int(part) for part in parts}))


def parsed_repeats(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the files in ``gpt=gpt-*.run``, several runs of each system, by the name of the system."""
    pairs = [one.partition("=")[::2] for one in given]
    if not all(name and pattern for name, pattern in pairs):
        raise click.BadParameter("write a name and a pattern of files, as in 'gpt=gpt-*.run'")
    found = {name: sorted(glob(pattern)) for name, pattern in pairs}  # noqa: PTH207 - patterns may be absolute
    few = next((f"{pattern!r} matches {len(found[name])}" for name, pattern in pairs if len(found[name]) < 2), "")
    if few or len(found) < len(pairs):
        raise click.BadParameter(f"{few or 'a name is given twice'}: repeats are two files or more of each name")
    return found


def parsed_conf(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Return settings such as ``spark.executor.memory=4g`` by their names; a value may hold anything."""
    pairs = [one.partition("=") for one in given]
    if not all(name and equals for name, equals, _ in pairs):
        raise click.BadParameter("write a setting as in spark.executor.memory=4g")
    return {name: value for name, _, value in pairs}


def parsed_grades(_: click.Context, __: click.Parameter, text: str | None) -> dict[str, Any] | None:
    """Return how to read what judges wrote, of ``drop,scale=10,Highly relevant=3``."""
    if text is None:
        return None
    found: dict[str, Any] = {"failed": "error", "grades": {}}
    for part in filter(None, (one.strip() for one in text.split(","))):
        words, is_given, value = (one.strip() for one in part.rpartition("="))
        if not is_given:
            check_choice("grades", value, ("error", "drop", "lowest", "bounds"))
            found["failed"] = value
        elif words == "grade":
            found["grade"] = value
        else:
            try:
                number = float(value)
            except ValueError:
                raise click.BadParameter(f"{part!r}: write a number, as in 'Highly relevant=3' or scale=10") from None
            found |= {"scale": number} if words == "scale" else {"grades": {**found["grades"], words: number}}
    return found


def _options(of: type[Settings], heading: str, *, shown: bool = True) -> dict[str, Callable[[Any], Any]]:
    """Return the options of a class of settings, each by the name of its field.

    Parameters
    ----------
    of : type
    heading : str
        Of --help-all, for those that have no other.
    shown : bool, default True
        Whether an option has its default; else it is None, which tells that it was not given.
    """
    options = {}
    for field in fields(of):
        if field.metadata.get("help"):
            options[field.name] = _option(field, field.metadata, heading, shown=shown)
    return options


def _ties_but(*without: str) -> Callable[[Any], Any]:
    """Return the option of tie policies for a command that refuses some."""
    allowed = tuple(one for one in TIES if one not in without)
    own = Conventions.__dataclass_fields__["ties"]
    return _option(own, {**own.metadata, "allowed": allowed, "help": meaning_of_ties(allowed)}, "ties", shown=True)


def _option(field: Field[Any], told: Mapping[str, Any], heading: str, *, shown: bool) -> Callable[[Any], Any]:
    allowed = told["allowed"]
    words = allowed if isinstance(allowed, tuple) else ()
    typed = told["option"].split() or [f"--{field.name.replace('_', '-')}"]
    is_flag, default = field.type == "bool", "" if shown or words else f" Default: {field.default}."
    of_default = {"default": field.default, "show_default": field.default is not None} if shown else {}
    return option(
        *typed,
        field.name,
        heading=told["help_heading"] or heading,
        rank=told["rank"],
        metavar=told["metavar"] or "|".join(words) or None,
        help=told["help"] + default,
        shell_complete=(lambda _, __, begun: [word for word in words if word.startswith(begun)]) if words else None,
        **({"is_flag": True} if is_flag else {"type": TYPES.get(str(field.type)), **of_default}),
    )


_OF_CONVENTIONS, _OF_INTERVALS = _options(Conventions, "measures"), _options(Estimation, "statistics", shown=False)
FILE: dict[str, Any] = {"type": INPUT, "metavar": "FILE"}
OPTIONS: dict[str, Callable[[Any], Any]] = {
    "grades": option(
        "--grades",
        callback=parsed_grades,
        metavar="FAILED,...",
        help="Files that are tables (CSV, JSON Lines, ...) hold what judges wrote, such as 'Score: 2'; runs only if"
        " their scores are no numbers. What becomes of answers that are no grade: error, drop, lowest or bounds (values"
        " have a range); then, with commas, scale=10, grade=COLUMN, and what words mean: 'Highly relevant=3'.",
        heading="input",
    ),
    "measures": option(
        "-m",
        "--measure",
        "notations",
        multiple=True,
        metavar="MEASURE",
        shell_complete=complete_from("deadheat.measures.base:REGISTRY"),
        help="A measure such as nDCG@10, 'P(rel=2)@5' or ndcg_cut_10, or several with spaces between; may be repeated."
        " 'trec' is most of what trec_eval prints.",
        heading="measures",
        rank=10,
    ),
    **_OF_CONVENTIONS,
    "ties_not_drawn": _ties_but("random"),
    "ties_in_steps": _ties_but("doc_id", "input", "random"),
    "beside": option(
        "--beside",
        type=click.Choice(["doc_id", "input"]),
        metavar="doc_id|input",
        help="Show the values with ties broken by document id, as trec_eval, or in the order of the file too: another"
        " column.",
        heading="ties",
    ),
    **_options(Design, "statistics"),
    **_options(Saving, "output"),
    **_options(Rejudging, "statistics"),
    "label": option(
        "--label", metavar="TEXT", help="A label in the saved file [default: the branch].", heading="output"
    ),
    "commit": option(
        "--commit",
        metavar="HASH",
        help="The commit in the saved file [default: as git or the CI's environment say].",
        heading="output",
    ),
    **_OF_INTERVALS,
    "cluster": option(
        "--cluster",
        metavar="COLUMN",
        help="Resample the queries that share a value of this column of --queries (a document, a user) as a whole.",
        heading="statistics",
    ),
    "seed": option(
        "--rng",
        "seed",
        type=click.IntRange(0),
        metavar="SEED",
        default=0,
        help="Seed; default 0.",
        heading="statistics",
    ),
    "baseline": option(
        "--baseline",
        multiple=True,
        metavar="RUN",
        help="Compare all others with this run; by default every pair. May be repeated.",
        heading="statistics",
        rank=30,
    ),
    "margin": option(
        "--margin",
        type=click.FloatRange(0, min_open=True),
        help="Also test that a system is no worse, by this margin, than the baseline, or than each run before it.",
        heading="statistics",
        rank=150,
    ),
    "queries": option(
        "--queries",
        **FILE,
        help="A table of queries: query_id, and columns such as language. Queries in several languages are reported"
        " by language.",
        heading="input",
        rank=60,
    ),
    "by": option(
        "--by",
        multiple=True,
        metavar="COLUMN",
        help="Report by the values of a column of --queries (a query with a|b counts in both); if it is repeated, by"
        " each column in a table of its own. a:b: by the combinations of two columns. Several languages stay apart.",
        heading="statistics",
        rank=70,
    ),
    "weights": option(
        "--weights",
        metavar="COLUMN",
        help="Weigh queries in means by this column of --queries, such as how often each is asked; totals have no"
        " weights.",
        heading="statistics",
    ),
    "pool_languages": option(
        "--pool-languages",
        is_flag=True,
        help="Let queries in different languages count in one mean.",
        heading="statistics",
    ),
    "repeats": option(
        "--repeats",
        multiple=True,
        metavar="NAME=PATTERN",
        callback=parsed_repeats,
        help="Several runs of one system, such as 'gpt=gpt-*.run': means over them, and errors with their noise.",
        heading="input",
        rank=180,
    ),
    "then_by": option(
        "--then-by",
        type=INPUT,
        multiple=True,
        metavar="RUN_OR_COLUMN",
        help="Order ties by the scores of this run, such as the first stage's, or by another column of the same file;"
        " several, in order. What still ties is averaged; a document that it lacks comes last.",
        heading="ties",
    ),
    "decimal": option(
        "--decimal",
        type=click.Choice([",", "."]),
        expose_value=False,
        callback=_entering("deadheat.io.values:decimal"),
        help="Decimal mark of numbers in CSV and TSV files; the other mark may group thousands [default: a point; with"
        " semicolons also a comma, where it can be nothing else].",
        heading="input",
    ),
    "encoding": option(
        "--encoding",
        metavar="NAME",
        expose_value=False,
        callback=_entering("deadheat.io.records:encoding"),
        help="The encoding of CSV and TSV files that are not UTF-8: cp1252 for CSV from Excel in Western Europe.",
        heading="input",
    ),
    "columns": option(
        "--columns",
        metavar="NAME=COLUMN,...",
        multiple=True,
        callback=parsed_names,
        help="Names of columns that are not recognised, such as doc_id=hit,score=similarity; of one kind of files as in"
        " run.doc_id=hit.",
        heading="input",
    ),
    "ascending": option("--ascending", is_flag=True, help="Lower scores rank first, as of distances.", heading="input"),
    "normalize_ids": option(
        "--normalize-ids",
        metavar="FORM",
        help="Read ids of qrels and runs in one form of Unicode: NFC, NFD, NFKC or NFKD.",
        heading="input",
    ),
    "collection": option(
        "--collection",
        **FILE,
        help="All documents that exist: a table or corpus as of bench, or one id a line. Relevant documents that are"
        " not in it are counted and named.",
        heading="input",
    ),
    "strict": option(
        "--strict", is_flag=True, help="Relevant documents that are not in --collection are an error.", heading="input"
    ),
    "engine": option(
        "--engine",
        metavar="polars|duckdb|spark",
        help="Let this engine read runs and count: Parquet files, folders of them, and patterns such as"
        " 'runs/*.parquet' (in quotes).",
        heading="input",
    ),
    "spark_master": option(
        "--spark-master",
        metavar="URL",
        help="The cluster of --engine spark: spark://HOST:PORT, or sc://HOST:PORT of Spark Connect; by default all"
        " cores of this machine.",
        heading="input",
    ),
    "spark_conf": option(
        "--spark-conf",
        multiple=True,
        metavar="K=V",
        callback=parsed_conf,
        help="A setting of --engine spark, such as spark.driver.memory=4g; may be repeated.",
        heading="input",
    ),
    "check_duplicates": option(
        "--check-duplicates/--no-check-duplicates",
        default=True,
        help="Check for documents that a run has twice for a query (default), or trust the data. Judged ones are an"
        " error in any case; judgments that come twice are merged, or an error if they contradict each other.",
        heading="input",
    ),
    "max_memory": option(
        "--max-memory",
        metavar="BYTES",
        expose_value=False,
        callback=_entering("deadheat.io.files:max_memory", n_bytes),
        help="About how much memory the rows of a run may take, such as 500MB: a larger one is read in blocks"
        " [default: from 1.5 GB of TREC or 4 million rows of Parquet on]. More than 4 GB also lets the content of a"
        " compressed file, Parquet or a pipe take so much [default: 4 GB, or 200 times the size of the file].",
        heading="input",
    ),
    "figures": option(
        "--figures",
        type=PATH,
        metavar="DIR",
        help="Also draw figures into this folder, which is made if need be: at most three, as a page shows them, by the"
        " first measure (needs deadheat[figures]).",
        heading="output",
    ),
    "figure_format": option(
        "--figure-format",
        type=click.Choice(["svg", "png", "pdf", "html", "json"]),
        default="svg",
        show_default=True,
        help="Of the files in that folder; json is Vega-Lite.",
        heading="output",
    ),
    "no_title": option(
        "--no-title", is_flag=True, help="Draw them without titles, for captions of a paper.", heading="output"
    ),
    "figure_width": option(
        "--figure-width",
        type=click.FloatRange(1, 100),
        metavar="CM",
        help="Their width in centimetres, from 1 to 100, such as 8.4 for a column.",
        heading="output",
    ),
    "id_pattern": option(
        "--id-pattern",
        metavar="RE",
        help="Pattern that every expected id must match as a whole; default: HP: and seven digits for"
        " expected_hpo_ids.",
        heading="input",
    ),
    "language": option(
        "--language", metavar="CODE", help="The language of cases whose file names none, such as de.", heading="input"
    ),
    "input_format": option(
        "--input-format",
        metavar="json|jsonl|csv|tsv|xlsx",
        help="Format of the files, as for standard input; default: by their names.",
        heading="input",
    ),
    "fields": option(
        "--columns",
        metavar="FIELD=COLUMN,...",
        callback=parsed_names,
        help="Names of fields that are not recognised, such as text=symptom,expected_ids=term.",
        heading="input",
    ),
    "flags": flags,
}
LISTS = tuple(name for name in _OF_CONVENTIONS if name != "ties")
WITHOUT_BOUNDS = tuple(name for name in LISTS if name not in {"unjudged", "unjudged_max_rel"})
SAVING = ("save_depth", "label", "commit", "replace")
INTERVALS = tuple(_OF_INTERVALS)
TESTS = tuple(name for name in _options(Design, "statistics") if name not in INTERVALS)
STRATA = ("queries", "weights", "by", "pool_languages")
READING = ("decimal", "columns", "grades", "ascending", "normalize_ids")
COLLECTION = ("collection", "strict")
ENGINE = ("engine", "spark_master", "spark_conf")
LIMITS = ("max_memory",)
FIGURES = ("figures", "figure_names", "figure_format", "no_title", "figure_width")
CASES = ("id_pattern", "language", "input_format", "encoding", "fields")
LAST = ("check_duplicates", *LIMITS, "flags")
# not for saved evaluations, except --decimal, which tables of queries need too
OF_EVALUATING = ("notations", "ties", *LISTS, "then_by", *READING[1:], "check_duplicates", *COLLECTION, *ENGINE)


def takes(*names: str) -> Callable[[Any], Any]:
    """Return a decorator that gives a command options, in the order in which its help lists them.

    Parameters
    ----------
    *names : str
        Each the name of one of `OPTIONS`; or of a group of options that a plugin adds, such as ``spans``, or of one of
        them, such as ``spans.documents``: there is none if the plugin is not there.
    """

    def decorate(command: Any) -> Any:  # noqa: ANN401 - click's
        for name in reversed(names):
            for add_option in reversed(_options_named(name)):
                command = add_option(command)
        return command

    return decorate


def _options_named(name: str) -> Sequence[Callable[[Any], Any]]:
    """Return one of `OPTIONS`, or those of a group, or one of these."""
    if name in OPTIONS:
        return [OPTIONS[name]]
    group, _, parameter = name.partition(".")
    module = hooks.option_group(group)
    if module is None:
        return []
    options: Mapping[str, Callable[[Any], Any]] = import_module(module).OPTIONS
    return [options[parameter]] if parameter else list(options.values())


def need_queries(path: object, needing: Mapping[str, object]) -> None:
    """Refuse the first option that was given and needs a table of queries, if there is none."""
    given = next((name for name, value in needing.items() if value), None)
    if path is None and given:
        raise click.UsageError(f"{given} needs a table of queries: give --queries FILE too")


def conventions_of(options: Mapping[str, Any], *, without: Collection[str] = ()) -> Conventions:
    """Return how to evaluate, checked before anything is read; `without` names ties that are refused too."""
    if without:
        check_choice("ties", options["ties"], [one for one in TIES if one not in without])
    return Conventions.of(options)


def given_conventions(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the conventions that were typed: a saved evaluation has its own."""
    source = click.get_current_context().get_parameter_source
    return {
        one.name: options[one.name]
        for one in fields(Conventions)
        if source(one.name) is click.core.ParameterSource.COMMANDLINE
    }


def given_intervals(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of intervals that were given; the others keep their defaults."""
    return {name: options[name] for name in (*INTERVALS, "cluster") if options.get(name) is not None}


def intervals_of(
    options: Mapping[str, Any],
    seed: int | None,
    *,
    for_what: str = "",
    also: Collection[str] = (),
) -> IntervalOptions:
    """Return the options of intervals that a command line gave; the others have their defaults.

    Parameters
    ----------
    options : mapping
    seed : int or None
        None is 0.
    for_what : str, default ""
        The options that make intervals, for messages; empty if one of them was given.
    also : collection of str, default ()
        Options that something else needs too: they are allowed without intervals.
    """
    from deadheat.evaluation.intervals import IntervalOptions

    given = given_intervals(options)
    alone = [name for name in given if name not in also]
    if for_what:
        refuse(alone, f"is for intervals: give {for_what} too")
    found = IntervalOptions(**given, rng=seed or 0)
    refuse_if(
        found.method in {"t", PROPORTION} and "n_resamples" in alone,
        f"--n-resamples is for a bootstrap, got --ci-method {found.method}, which takes no resamples",
    )
    need_queries(options.get("queries", ""), {"--cluster": found.cluster})  # bench has cases in their place
    return found


def design_of(options: Mapping[str, Any]) -> Design:
    """Return how to compare."""
    from deadheat.report.of_comparison import RESAMPLED

    also = ("n_resamples",) if options["test"] in RESAMPLED else ()  # a test may need resamples too
    is_fixed = options["n_resamples"] is not None  # no more than these
    return Design.of({**options, "is_fixed": is_fixed, **vars(intervals_of(options, options["seed"], also=also))})


def check_strata(options: Mapping[str, Any]) -> None:
    """Refuse options that need the table of queries where there is none."""
    need_queries(
        options["queries"],
        {f"--{name.replace('_', '-')}": options[name] for name in ("by", "pool_languages", "weights")},
    )


def read_queries(options: Mapping[str, Any]) -> dh.Queries | None:
    """Read the table of queries, and check that it has the columns that were named."""
    if options["queries"] is None:
        return None
    from deadheat.evaluation.intervals import check_columns, groupings_of, names_of

    queries = dh.Queries(options["queries"])
    for names in groupings_of(options["by"], queries) if options["by"] else ():
        check_columns(names_of(names), queries)
    queries.check_columns(filter(None, (options["cluster"], options["weights"])))
    return queries


def weighed(evaluation: dh.Evaluation, queries: dh.Queries | None, options: Mapping[str, Any]) -> dh.Evaluation:
    """Return an evaluation, with weights if they are asked for."""
    return evaluation if options["weights"] is None else evaluation.weighted(options["weights"], queries)


def sets_of_strata(
    queries: dh.Queries | None, evaluations: Iterable[dh.Evaluation], options: Mapping[str, Any]
) -> list[tuple[str, ...]]:
    """Return the columns of each set of strata: the language too, where there are several that may not be pooled.

    One without a column is all queries together.
    """
    if queries is None:
        return [()]
    from deadheat.evaluation.intervals import columns_of, groupings_of

    ids = sorted(set().union(*(one.query_ids.tolist() for one in evaluations)))
    asked = groupings_of(options["by"], queries) if options["by"] else [()]
    return list(
        dict.fromkeys(tuple(columns_of(queries, ids, one, pool_languages=options["pool_languages"])) for one in asked)
    )


def grouping_of(
    evaluations: Sequence[dh.Evaluation], queries: dh.Queries, columns: tuple[str, ...], options: Mapping[str, Any]
) -> Grouping:
    """Return the strata of evaluations by some columns, and what the report says of them."""
    from deadheat.evaluation.intervals import strata_of
    from deadheat.report.of_evaluation import Grouping

    ids = sorted(set().union(*(one.query_ids.tolist() for one in evaluations)))
    return Grouping(
        shown_path(queries.where, "the table of queries"),
        tuple(strata_of(one, columns, queries) for one in evaluations if columns),
        asked=columns if options["by"] else (),
        languages=queries.languages(ids),
        without_language=queries.without_language(ids),
        pool_languages=options["pool_languages"],
        has_clusters=bool(options["cluster"] or options["weights"]),
    )


def measures_of(options: Mapping[str, Any]) -> tuple[Measure, ...]:
    """Return the measures given with -m, by default those of an evaluation; with --spans in their form for spans."""
    load_libraries()
    from deadheat.measures.notation import parse_measures

    if options.get("spans"):
        of_spans = hooks.service("measures_of_spans")
        wanted = parse_measures(options["notations"] or of_spans.SPAN_MEASURES)
        chosen: tuple[Measure, ...] = of_spans.measures_of_spans(wanted)
        return chosen
    return parse_measures(options["notations"] or None)


def named_baselines(options: Mapping[str, Any], named: Mapping[str, str]) -> list[str] | None:
    """Return the names of the baselines, which may be given as the paths of their runs; None without any."""
    names = {path: name for name, path in named.items()}
    return [names.get(baseline, baseline) for baseline in options["baseline"]] or None


def command(*lines: str, kind: type[Command] = Command) -> Callable[[Callable[..., Any]], Command]:
    """Return what makes a function a command with short help and these examples, the most useful first."""
    return lambda function: click.command(function.__name__, cls=kind, examples=lines)(function)
