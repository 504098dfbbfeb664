"""The command ``deadheat trec_eval``."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from deadheat.core.cli.help import option
from deadheat.core.cli.inputs import check_inputs, named_format, open_qrels, open_run
from deadheat.core.cli.options import LAST, command, complete_from, with_options
from deadheat.core.cli.paths import INPUT, kept, label
from deadheat.core.cli.printing import emit
from deadheat.core.cli.streams import write_note
from deadheat.core.errors import DataError, MalformedRowError
from deadheat.core.phases import phase
from deadheat.core.structures import copy_with

if TYPE_CHECKING:
    from collections.abc import Callable


@command(
    "deadheat trec_eval qrels.txt bm25.run",
    "deadheat trec_eval -q -c -l 2 -m ndcg_cut.5,10 -m all_trec qrels.txt bm25.run",
    "deadheat trec_eval --ties expected qrels.txt bm25.run    # exact means over the orders of ties",
)
@click.argument("qrels", type=INPUT)
@click.argument("run", type=INPUT)
@option("-q", "--query_eval_wanted", "has_queries", is_flag=True, help="Print each topic, too.")
@option(
    "-n",
    "--nosummary",
    "has_summary",
    flag_value=False,
    default=True,
    help="Do not print the values of all topics together.",
)
@option("-c", "--complete_rel_info_wanted", "complete", is_flag=True, help="Count topics that the run lacks, with 0.")
@option("-l", "--level_for_rel", "level", type=click.IntRange(1), default=1, help="Lowest relevance that is relevant.")
@option(
    "-J",
    "--Judged_docs_only",
    "judged_only",
    is_flag=True,
    help="Take unjudged documents out of the lists first.",
    heading="measures",
)
@option(
    "-M",
    "--Max_retrieved_per_topic",
    "depth",
    type=click.IntRange(1),
    help="Look at this many documents of each list.",
    heading="measures",
)
@option(
    "-N", "--Number_docs_in_coll", "n_documents", type=click.IntRange(0), default=0, help="Documents in the collection."
)
@option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE[.PARAMETERS]",
    shell_complete=complete_from("deadheat.plugins.compat.trec_measures:WORDS"),
    help="A measure such as ndcg_cut.5,10, or official (default), set or all_trec; may be repeated.",
)
@option(
    "--like",
    "version",
    type=click.Choice(["9", "10"]),
    default="9",
    show_default=True,
    help="The version of trec_eval. 10 compares scores in 64 bits instead of 32, stops at topics that the run lacks"
    " unless -c is given, and has rbp, rbp_resid and unj.",
)
@option(
    "--ties",
    metavar="POLICY",
    shell_complete=complete_from("deadheat.core.settings:TIES"),
    help="doc_id: by document id, as trec_eval. expected: exact means over the orders of ties, from all bits of the"
    " scores [default: DEADHEAT_TIES in the environment, else doc_id]",
    heading="ties",
    rank=80,
)
@with_options("file_formats", *LAST)
def trec_eval(qrels: str, run: str, measures: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Print what trec_eval prints, line by line, for the same options.

    Ties are broken by document id, as trec_eval, unless --ties says otherwise. Not here: trec_eval's preference and
    multi-judge measures (-R other than qrels), and -Z.
    """
    from deadheat.core.data.judging import find_kind_of_qrels
    from deadheat.core.data.kind_of_judgments import DOCUMENTS
    from deadheat.core.evaluation.together import describe_kind
    from deadheat.core.io.formats import read_tag
    from deadheat.plugins.compat.evaluating import OF_TREC_EVAL, tie_policy
    from deadheat.plugins.compat.trec_eval import describe_fractions, trec_eval as format_lines
    from deadheat.plugins.compat.trec_measures import parse_requests

    del options["doc_id_of"], options["duplicates"], options["file_formats"]  # what is opened is read and checked so
    options |= {"version": int(options["version"]), "ties": tie_policy(options["ties"], OF_TREC_EVAL)}
    requests = parse_requests(measures or ["official"], options["version"])
    check_inputs([qrels, run])
    name, path = label(run), Path(run)
    if not path.is_file():  # a pipe is read twice: the tag of a run by itself
        with path.open("rb") as stream:
            path = Path(kept(stream))
    judgments = open_qrels(qrels)
    kind = find_kind_of_qrels(judgments)
    if kind is not DOCUMENTS:
        raise DataError(
            f"holds judgments of {describe_kind(kind)}, and trec_eval knows documents alone",
            path=qrels,
            hint="call deadheat evaluate, which has the measures of them",
        )

    def evaluate(source: Path) -> str:
        retrieved = open_run(str(source), name)
        if source != path:
            retrieved = copy_with(retrieved, path=path)  # messages name the file of the user
        tag = read_tag(source) or retrieved.name
        lines = format_lines(
            judgments, retrieved, requests, tag, **options, note=lambda text: write_note(f"Note: {text}")
        )
        with phase(f"evaluating {retrieved.name}"):
            return "\n".join(lines)

    text = _read_leniently(path, evaluate)
    if fractions := describe_fractions(judgments):
        write_note(f"Note: {fractions}")
    if text:
        emit(text)


def _read_leniently(path: Path, evaluate: "Callable[[Path], str]") -> str:
    """Return what a run is evaluated to, if necessary without the text behind the six fields of a line.

    Parameters
    ----------
    path : pathlib.Path
        Of the run.
    evaluate : callable
    """
    from deadheat.core.io.formats import find_format
    from deadheat.plugins.compat.trec_eval import cut_trailing_text

    try:
        return evaluate(path)
    except MalformedRowError:
        if find_format(path, named_format("run")).name not in {"trec", "tsv"}:
            raise
        folder = click.get_current_context().with_resource(TemporaryDirectory(prefix="deadheat-"))
        target = Path(folder) / path.name.removesuffix(".gz").removesuffix(".zst")
        if not cut_trailing_text(path, target):
            raise
    try:
        return evaluate(target)
    except DataError as error:
        error.path = path  # of the user's file, whose lines have the same numbers
        raise
