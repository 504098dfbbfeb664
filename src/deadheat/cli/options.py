"""Options that several commands take, and how their text is read."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from deadheat.cli.files import PATH, input_path, shown_path
from deadheat.cli.sizes import Size

if TYPE_CHECKING:
    from deadheat.comparison.pairs import Design
    from deadheat.data.queries import Queries
    from deadheat.evaluation.conventions import Conventions
    from deadheat.evaluation.evaluation import Evaluation
    from deadheat.evaluation.intervals import IntervalOptions
    from deadheat.measures import Measure
    from deadheat.report.of_strata import Grouping


SCREEN = 76  # columns of an example, which is indented by four


def complete_from(source: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a shell completion with the words of ``module:attribute``, imported when the shell asks."""
    module, _, attribute = source.partition(":")

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
        return [word for word in getattr(import_module(module), attribute) if word.startswith(incomplete)]

    return complete


def together(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator that adds several options to a command, in the order in which its help lists them."""
    return lambda command: reduce(lambda own, add: add(own), reversed(options), command)


measure_option = click.option(
    "-m",
    "--measure",
    "notations",
    multiple=True,
    metavar="MEASURE",
    shell_complete=complete_from("deadheat.measures.base:REGISTRY"),
    help="A measure such as nDCG@10, 'P(rel=2)@5' or ndcg_cut_10, or several with spaces between; may be repeated."
    " 'trec' is most of what trec_eval prints.",
)
duplicates_option = click.option(
    "--check-duplicates/--no-check-duplicates",
    default=True,
    help="Check for documents that appear twice in a query (default), or trust the data.",
)
ties_option = click.option(
    "--ties",
    metavar="POLICY",
    default="expected",
    show_default=True,
    shell_complete=complete_from("deadheat.placements.policies:POLICIES"),
    help="What a tie counts: expected (the exact mean over its orders), best, worst, doc_id (by document id,"
    " as trec_eval), input (the order of the file) or random.",
)
beside_option = click.option(
    "--beside",
    metavar="doc_id|input",
    shell_complete=complete_from("deadheat.evaluation.beside:RULES"),
    help="Show the values with ties broken by document id, as trec_eval, or in the order of the file too: another"
    " column.",
)
queries_options = together(
    click.option(
        "--missing",
        metavar="empty|skip|error",
        default="empty",
        show_default=True,
        help="Queries that a run lacks count as empty rankings, are left out, or are an error.",
    ),
    click.option(
        "--no-relevant",
        metavar="zero|skip",
        default="zero",
        show_default=True,
        help="Queries without a relevant document score 0, or are left out.",
    ),
)
lists_options = together(
    click.option(
        "-l",
        "--rel",
        type=float,
        metavar="LEVEL",
        help="Lowest relevance that counts as relevant, for all measures that name no other.",
    ),
    click.option("-J", "--judged-only", is_flag=True, help="Take unjudged documents out of the lists first."),
    click.option(
        "-M", "--depth", type=click.IntRange(1), metavar="N", help="Look at the first N documents of each list."
    ),
    click.option(
        "--unjudged",
        metavar="zero|bounds",
        default="zero",
        show_default=True,
        help="Unjudged documents have no gain; or also give the least and greatest value for any relevance of theirs.",
    ),
    click.option(
        "--unjudged-max-rel",
        type=float,
        metavar="LEVEL",
        help="The highest relevance of --unjudged bounds; default: the highest in the qrels.",
    ),
)
test_options = together(
    click.option(
        "--test",
        metavar="TEST",
        default="randomization",
        show_default=True,
        shell_complete=complete_from("deadheat.comparison.pairs:TESTS"),
        help="randomization, bootstrap-t, bootstrap, t, wilcoxon, sign or tukey.",
    ),
    click.option(
        "--correction",
        metavar="none|bonferroni|holm|bh",
        default="holm",
        show_default=True,
        shell_complete=complete_from("deadheat.stats:CORRECTIONS"),
        help="Correction of p values for the number of rows of a measure.",
    ),
    click.option(
        "--alternative",
        metavar="two-sided|greater|less",
        default="two-sided",
        show_default=True,
        shell_complete=complete_from("deadheat.stats:ALTERNATIVES"),
        help="Of the difference, system - baseline.",
    ),
)


def _keep(ctx: click.Context, option: click.Parameter, value: object) -> None:
    """Keep an option for `open_qrels` and `open_run`."""
    ctx.meta[f"deadheat.{option.name}"] = value


def _kept_precision(ctx: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Keep the precision for the keys of --then-by, and hand it on."""
    _keep(ctx, option, value)
    return value


precision_option = click.option(
    "--score-precision",
    metavar="PRECISION",
    callback=_kept_precision,
    help="Round all scores first: float32, float16, bfloat16 or a number of decimals.",
)


def parsed_names(value: str | None, example: str) -> dict[str, str]:
    """Return the columns of an option such as ``doc_id=chunk,score=similarity``, by what they are."""
    parts = [part.partition("=") for part in (value or "").split(",") if part]
    if not all(name and found for name, _, found in parts):
        raise click.BadParameter(f"write names as in {example}")
    names = [name.strip() for name, _, _ in parts]
    for name in names:
        if names.count(name) > 1:
            raise click.BadParameter(f"{name} is given {names.count(name)} times")
    return {name.strip(): found.strip() for name, _, found in parts}


def _parsed_columns(ctx: click.Context, option: click.Parameter, values: tuple[str, ...]) -> None:
    _keep(ctx, option, parsed_names(",".join(values), "query_id=question,doc_id=chunk,score=similarity"))


def _say_decimal(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        from deadheat.io.decimals import decimal

        ctx.with_resource(decimal(value))


decimal_option = click.option(
    "--decimal",
    type=click.Choice([",", "."]),
    expose_value=False,
    callback=_say_decimal,
    help="Decimal mark of numbers in CSV and TSV files; the other mark may group thousands [default: a point; with"
    " semicolons also a comma, where it can be nothing else].",
)


reading_options = together(
    decimal_option,
    click.option(
        "--columns",
        metavar="NAME=COLUMN,...",
        multiple=True,
        callback=_parsed_columns,
        expose_value=False,
        help="Names of columns that are not recognised, such as doc_id=hit,score=similarity; of one kind of files as in"
        " run.doc_id=hit.",
    ),
    click.option(
        "--ascending",
        is_flag=True,
        callback=_keep,
        expose_value=False,
        help="Lower scores rank first, as of distances.",
    ),
    click.option(
        "--normalize-ids",
        metavar="FORM",
        callback=_keep,
        expose_value=False,
        help="Read ids of qrels and runs in one form of Unicode: NFC, NFD, NFKC or NFKD.",
    ),
)


collection_options = together(
    click.option(
        "--collection",
        type=PATH,
        metavar="FILE",
        help="All documents that exist: a table or corpus as of bench, or one id a line. Relevant documents that are"
        " not in it are counted and named.",
    ),
    click.option("--strict", is_flag=True, help="Relevant documents that are not in --collection are an error."),
)
then_by_option = click.option(
    "--then-by",
    type=PATH,
    multiple=True,
    metavar="RUN_OR_COLUMN",
    callback=_keep,
    expose_value=False,
    help="Order ties by the scores of this run, such as the first stage's, or by another column of the same file;"
    " several, in order. What still ties is averaged; a document that it lacks comes last.",
)


def _allow_decompressed(ctx: click.Context, _: click.Parameter, value: int | None) -> None:
    if value is not None:
        from deadheat.io.limits import max_decompressed

        ctx.with_resource(max_decompressed(value))


def _bound_memory(ctx: click.Context, _: click.Parameter, value: int | None) -> None:
    if value is not None:
        from deadheat.io.limits import max_memory

        ctx.with_resource(max_memory(value))


decompressed_option = together(
    click.option(
        "--max-decompressed",
        type=Size(),
        metavar="BYTES",
        expose_value=False,
        callback=_allow_decompressed,
        help="About the most bytes that a compressed file or a pipe may take in memory, as text and as rows [default:"
        " 4 GB, or 200 times the compressed size]. Of compressed TREC the rows alone count.",
    ),
    click.option(
        "--max-memory",
        type=Size(),
        metavar="BYTES",
        expose_value=False,
        callback=_bound_memory,
        help="About how much memory the rows of a run may take, such as 500MB: a larger one is read in blocks"
        " [default: from 1.5 GB of TREC or 4 million rows of Parquet on].",
    ),
)


# the options that only intervals need, by argument
OF_INTERVALS = {
    "confidence_level": "--confidence-level",
    "method": "--ci-method",
    "n_resamples": "--n-resamples",
    "cluster": "--cluster",
}
cluster_option = click.option(
    "--cluster",
    metavar="COLUMN",
    help="Resample the queries that share a value of this column of --queries (a document, a user) as a whole.",
)


def _resampling(of_level: str, of_resamples: str) -> Callable[[Any], Any]:
    """Return a decorator that adds --confidence-level, --ci-method and --n-resamples."""
    return together(
        click.option(
            "--confidence-level", type=float, metavar="LEVEL", help=f"{of_level}; between 0 and 1, default 0.95."
        ),
        click.option(
            "--ci-method",
            "method",
            metavar="METHOD",
            shell_complete=complete_from("deadheat.evaluation.intervals:METHODS"),
            help="auto (default): for means clopper-pearson of measures that are 0 or 1 (Hit, P@1; not with --cluster),"
            " bootstrap-t of those without limits (DCG), gaffke of others, bca from 50 queries on; for differences t."
            " bca, bootstrap-t, percentile: bootstrap; t: Student's t; gaffke: of few values between two"
            " limits; clopper-pearson: exact for proportions.",
        ),
        click.option("--n-resamples", type=int, metavar="N", help=f"{of_resamples}, 99 or more; default 10000."),
    )


# the options of intervals, except the one that asks for them
interval_options = together(_resampling("Level of the intervals", "Resamples of the bootstrap"), cluster_option)
# those that intervals share with the tests of a comparison; what a cluster is depends on the command
comparing_options = _resampling(
    "Level of the intervals; 1 - LEVEL is the level of significance", "Resamples of bootstrap and test"
)
stratum_options = together(
    click.option(
        "--queries",
        type=PATH,
        metavar="FILE",
        help="A table of queries: query_id, and columns such as language. Queries in several languages are reported"
        " by language.",
    ),
    click.option(
        "--by",
        multiple=True,
        metavar="COLUMN",
        help="Report by the values of a column of --queries; by their combinations if it is repeated.",
    ),
    click.option("--pool-languages", is_flag=True, help="Let queries in different languages count in one mean."),
)


def need_queries(path: object, needing: Mapping[str, object]) -> None:
    """Refuse the first option that was given and needs a table of queries, if there is none."""
    given = [name for name, value in needing.items() if value]
    if path is None and given:
        raise click.UsageError(f"{given[0]} needs a table of queries: give --queries FILE too")


def conventions_of(options: Mapping[str, Any], *, without: Collection[str] = ()) -> Conventions:
    """Return how to evaluate, checked before anything is read; `without` names ties that are refused too."""
    from deadheat.arguments import check_choice
    from deadheat.evaluation.conventions import Conventions
    from deadheat.placements.policies import POLICIES

    check_choice("ties", options["ties"], [policy for policy in POLICIES if policy not in without])
    return Conventions(**{one.name: options[one.name] for one in fields(Conventions)})


def intervals_of(
    options: Mapping[str, Any],
    seed: int | None,
    *,
    for_what: str = "",
    also: Collection[str] = (),
    has_queries: bool = True,
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
        Names in `OF_INTERVALS` that something else needs too: they are allowed without intervals.
    has_queries : bool, default True
        Whether there is a table that may have the column of clusters.
    """
    from deadheat.arguments import BOUNDED
    from deadheat.evaluation.intervals import PROPORTION, IntervalOptions

    given = {name: options[name] for name in OF_INTERVALS if options[name] is not None}
    of_intervals = [name for name in given if name not in also]
    if for_what and of_intervals:
        raise click.UsageError(f"{OF_INTERVALS[of_intervals[0]]} is for intervals: give {for_what} too")
    found = IntervalOptions(**given, rng=seed or 0)
    if found.method in {"t", PROPORTION} and "n_resamples" in of_intervals:
        raise click.UsageError(
            f"--n-resamples is for a bootstrap, got --ci-method {found.method}, which takes no resamples"
        )
    if found.method == PROPORTION and "cluster" in given:
        raise click.UsageError(
            f"--ci-method {PROPORTION} needs independent queries, got --cluster: auto, bca, bootstrap-t, percentile,"
            f" t and {BOUNDED} allow it"
        )
    if "cluster" in given and not has_queries:
        raise click.UsageError("--cluster is a column of a table of queries: give --queries FILE too")
    return found


def design_of(options: Mapping[str, Any], *, has_queries: bool = True) -> Design:
    """Return how to compare."""
    from deadheat.comparison.pairs import Design
    from deadheat.evaluation.intervals import Estimation
    from deadheat.report.of_comparison import RESAMPLED

    also = ("n_resamples",) if options["test"] in RESAMPLED else ()  # a test may need resamples too
    intervals = intervals_of(options, options["seed"], also=also, has_queries=has_queries)
    return Design(
        **{one.name: getattr(intervals, one.name) for one in fields(Estimation)},
        **{name: options[name] for name in ("baseline", "test", "correction", "alternative")},
    )


def check_proportions(options: IntervalOptions, measures: Sequence[Measure]) -> None:
    """Refuse intervals of proportions, or of bounded values, for other measures, before files are read."""
    from deadheat.evaluation.intervals import method_of

    for measure in measures:
        method_of(options.method, measure, n_units=0, has_clusters=False)


@dataclass(frozen=True)
class StratumOptions:
    """What a command line says of strata and clusters; checked when it is made.

    Attributes
    ----------
    path : str or None
        Of the table of queries.
    by : tuple of str
    pool_languages : bool
    cluster : str or None
        A column of the table.
    """

    path: str | None
    by: tuple[str, ...] = ()
    pool_languages: bool = False
    cluster: str | None = None

    def __post_init__(self) -> None:
        """Refuse options that need a table of queries where there is none."""
        need_queries(self.path, {"--by": self.by, "--pool-languages": self.pool_languages})

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Take them from the options of a command."""
        path = None if options["queries"] is None else input_path(options["queries"])
        return cls(path, options["by"], options["pool_languages"], options["cluster"])

    def read(self) -> Queries | None:
        """Read the table of queries, and check that it has the columns that were named."""
        if self.path is None:
            return None
        from deadheat.data.queries import Queries
        from deadheat.evaluation.strata import check_columns, names_of

        queries = Queries(self.path)
        if self.by:
            check_columns(names_of(self.by), queries)
        queries.check_columns([self.cluster] if self.cluster else [])
        return queries

    def columns(self, queries: Queries, query_ids: Sequence[str]) -> list[str]:
        """Return the columns to report by: the language too, where there are several that may not be pooled."""
        from deadheat.evaluation.strata import columns_of

        return columns_of(queries, query_ids, self.by, pool_languages=self.pool_languages)

    def group(self, evaluations: Sequence[Evaluation], queries: Queries) -> Grouping:
        """Return the strata of evaluations, and what the report says of them."""
        from deadheat.errors import UnlabelledQueriesWarning
        from deadheat.report.of_strata import Grouping

        query_ids = sorted(set().union(*(one.query_ids.tolist() for one in evaluations)))
        columns = self.columns(queries, query_ids)
        with warnings.catch_warnings(action="ignore", category=UnlabelledQueriesWarning):  # the report says it
            strata = [one.by(columns, queries, pool_languages=True) for one in evaluations if columns]
        return Grouping(
            shown_path(queries.where, "the table of queries"),
            tuple(strata),
            asked=self.by,
            languages=queries.languages(query_ids),
            without_language=queries.without_language(query_ids),
            pool_languages=self.pool_languages,
            has_clusters=self.cluster is not None,
        )


def parsed_measures(notations: Sequence[str]) -> tuple[Measure, ...] | None:
    """Return the measures that -m was given; None for the default."""
    from deadheat.evaluation.evaluate import parse_measures

    return parse_measures(notations) if notations else None


def unique_names(paths: Sequence[str], name_of: Callable[[str], str]) -> list[str]:
    """Return a name for each path: the file's; where two are equal with its folder, or its format; else numbered.

    Examples
    --------
    >>> unique_names(["a/bm25.run", "b/bm25.run", "c.run"], lambda path: Path(path).stem)
    ['a/bm25', 'b/bm25', 'c']
    >>> unique_names(["bm25.run", "bm25.csv"], lambda path: Path(path).stem)
    ['bm25.run', 'bm25.csv']
    >>> unique_names(["a/bm25.run", "a/bm25.run"], lambda path: Path(path).stem)
    ['bm25 #1', 'bm25 #2']
    """
    names = [name_of(path) for path in paths]
    folders = [f"{Path(path).absolute().parent.name}/" for path in paths]
    # a name that is not from the file's has no format
    files = [
        Path(path).name if Path(path).name.startswith(own) else own for path, own in zip(paths, names, strict=True)
    ]
    in_folders = [f"{folder}{name}" for folder, name in zip(folders, names, strict=True)]
    whole = [f"{folder}{file}" for folder, file in zip(folders, files, strict=True)]
    for longer in (in_folders, files, whole):
        found = [more if names.count(name) > 1 else name for more, name in zip(longer, names, strict=True)]
        if len(set(found)) == len(found):
            return found
    return [
        f"{name} #{names[: place + 1].count(name)}" if names.count(name) > 1 else name
        for place, name in enumerate(names)
    ]


def parsed_numbers(_: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, ...] | None:
    """Read cutoffs such as ``1,5,10``."""
    if text is None:
        return None
    parts = text.replace(",", " ").split()
    if not parts or not all(re.fullmatch("0*[1-9][0-9]{0,15}", part) for part in parts):
        raise click.BadParameter(f"expected whole numbers from 1 on, such as 1,5,10; got {text!r}", param=parameter)
    return tuple(sorted({int(part) for part in parts}))


def examples(*lines: str) -> dict[str, Any]:
    """Return click's epilog with examples, which it must not wrap; long ones are broken as in a shell."""
    folded = (part for line in lines for part in _folded(line))
    return {"epilog": "\b\nExamples:\n" + "\n".join(f"  {line}" for line in folded)}


def _folded(line: str) -> list[str]:
    r"""Return an example in lines that fit a screen: its comment above it, its options on the next lines.

    Examples
    --------
    >>> _folded("deadheat ties bm25.run    # how many ties")
    ['deadheat ties bm25.run    # how many ties']
    >>> for line in _folded("deadheat compare " + "x" * 50 + " --baseline a.run    # one"):
    ...     print(line)
    # one
    deadheat compare xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx \
        --baseline a.run
    """
    if len(line) <= SCREEN:
        return [line]
    command, mark, comment = line.partition("    # ")
    folded = [f"# {comment}"] if mark else []
    words = re.findall(r"(?:'[^']*'|\S)+", command)
    # an option stays with its value
    units = re.findall(r"-\S+\n(?:[^-\n][^\n]*)|[^\n]+", "\n".join(words))
    current = ""
    for unit in (one.replace("\n", " ") for one in units):
        if current and len(current) + len(unit) + 3 > SCREEN:  # a space before it, and " \\" behind it
            folded.append(f"{current} \\")
            current = f"    {unit}"
        else:
            current += f" {unit}" if current else unit
    return [*folded, current]
