"""deadheat trec_eval."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from deadheat.cli.app import debug_option, say
from deadheat.cli.files import PATH, check_inputs, input_path, label
from deadheat.cli.options import complete_from, decompressed_option, duplicates_option, examples
from deadheat.cli.output import emit

EXAMPLES = examples(
    "deadheat trec_eval qrels.txt bm25.run",
    "deadheat trec_eval -q -c -l 2 -m ndcg_cut.5,10 -m all_trec qrels.txt bm25.run",
    "deadheat trec_eval --ties expected qrels.txt bm25.run    # exact means over the orders of ties",
)


@click.command("trec_eval", short_help="Print what trec_eval prints.", **EXAMPLES)
@click.argument("qrels", type=PATH)
@click.argument("run", type=PATH)
@click.option("-q", "--query_eval_wanted", "has_queries", is_flag=True, help="Print each topic, too.")
@click.option("-n", "--nosummary", "no_summary", is_flag=True, help="Do not print the values of all topics together.")
@click.option(
    "-c", "--complete_rel_info_wanted", "complete", is_flag=True, help="Count topics that the run lacks, with 0."
)
@click.option(
    "-l", "--level_for_rel", "level", type=click.IntRange(1), default=1, help="Lowest relevance that is relevant."
)
@click.option("-J", "--Judged_docs_only", "judged_only", is_flag=True, help="Take unjudged documents out first.")
@click.option("-M", "--Max_retrieved_per_topic", "depth", type=click.IntRange(1), help="Look at so many documents.")
@click.option(
    "-N", "--Number_docs_in_coll", "n_documents", type=click.IntRange(0), default=0, help="Documents in the collection."
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE[.PARAMETERS]",
    shell_complete=complete_from("deadheat.compat.trec_names:WORDS"),
    help="A measure such as ndcg_cut.5,10, or official (default), set or all_trec; may be repeated.",
)
@click.option(
    "--like",
    "version",
    type=click.Choice(["9", "10"]),
    default="9",
    show_default=True,
    help="The version of trec_eval. 10 compares scores in 64 bits instead of 32, stops at topics that the run lacks"
    " unless -c is given, and has rbp, rbp_resid and unj.",
)
@click.option(
    "--ties",
    metavar="POLICY",
    shell_complete=complete_from("deadheat.placements.policies:POLICIES"),
    help="doc_id: by document id, as trec_eval. expected: exact means over the orders of ties, from all bits of the"
    " scores [default: DEADHEAT_TIES in the environment, else doc_id]",
)
@duplicates_option
@decompressed_option
@debug_option
def trec_eval(  # noqa: PLR0917 - click passes by name
    qrels: str,
    run: str,
    has_queries: bool,  # noqa: FBT001 - click passes by name
    no_summary: bool,  # noqa: FBT001 - as above
    complete: bool,  # noqa: FBT001 - as above
    level: int,
    judged_only: bool,  # noqa: FBT001 - as above
    depth: int | None,
    n_documents: int,
    measures: tuple[str, ...],
    version: str,
    ties: str | None,
    check_duplicates: bool,  # noqa: FBT001 - as above
) -> None:
    """Print what trec_eval prints, line by line, for the same options.

    Ties are broken by document id, as trec_eval, unless --ties says otherwise. Not here: trec_eval's preference and
    multi-judge measures (-R other than qrels), and -Z.
    """
    from deadheat.compat.defaults import OF_TREC_EVAL, tie_policy
    from deadheat.compat.trec_eval import Options
    from deadheat.compat.trec_eval import trec_eval as lines_of
    from deadheat.compat.trec_names import requested
    from deadheat.data.tables import Qrels, Run
    from deadheat.io.tags import tag_of

    options = Options(
        level=level,
        complete=complete,
        has_queries=has_queries,
        has_summary=not no_summary,
        judged_only=judged_only,
        depth=depth,
        n_documents=n_documents,
        version=int(version),
        ties=tie_policy(ties, OF_TREC_EVAL),
    )
    wanted = requested(measures or ["official"], options.version)
    given = [input_path(path) for path in (qrels, run)]
    check_inputs(given)
    with _in_file(given[1]) as path:
        judgments, retrieved = Qrels(given[0]), Run(path, name=label(given[1], "run"))
        if check_duplicates:
            judgments.check_duplicates()
            retrieved.check_duplicates()
        tag = tag_of(path) or retrieved.name
    text = "\n".join(lines_of(judgments, retrieved, wanted, options, tag, note=lambda text: say(f"Note: {text}")))
    if text:
        emit(text)


@contextmanager
def _in_file(path: str) -> Iterator[str]:
    """Give a path that can be read twice: a pipe is saved first, as the tag of a run is read by itself."""
    if Path(path).is_file():
        yield path
        return
    import shutil  # only a pipe needs them
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="deadheat-") as folder:
        copy = Path(folder) / "run"
        with Path(path).open("rb") as stream, copy.open("wb") as file:
            shutil.copyfileobj(stream, file)
        yield str(copy)
