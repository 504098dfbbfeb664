"""Options that several commands take, and how their text is read."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

BUNDLES = {
    "trec": (
        *("num_q", "num_ret", "num_rel", "num_rel_ret", "map", "Rprec", "bpref", "recip_rank"),
        *(f"P_{cutoff}" for cutoff in (5, 10, 15, 20, 30, 100, 200, 500, 1000)),
    ),
}
AROUND_AT = re.compile(r"\s*@\s*")
# A notation: anything but separators, which parentheses may hold; one that is not closed takes the rest.
NOTATION = re.compile(r"(?:[^\s,()]|\((?:[^()]|\([^()]*\))*\)|\(.*|\))+", re.DOTALL)


def complete_from(source: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a shell completion with the words of ``module:attribute``, imported when the shell asks."""
    module, _, attribute = source.partition(":")

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
        return [word for word in getattr(import_module(module), attribute) if word.startswith(incomplete)]

    return complete


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
    help="Look for documents that stand twice in a query (default), or trust the data.",
)
ties_option = click.option(
    "--ties",
    metavar="POLICY",
    default="expected",
    show_default=True,
    shell_complete=complete_from("deadheat.placements.policies:POLICIES"),
    help="What a tie counts: expected (the exact mean over its orders), best, worst, doc_id (as trec_eval), input"
    " (the order of the file) or random.",
)
missing_option = click.option(
    "--missing",
    metavar="empty|skip|error",
    default="empty",
    show_default=True,
    help="Queries that a run lacks count as empty rankings, are left out, or are an error.",
)
no_relevant_option = click.option(
    "--no-relevant",
    metavar="zero|skip",
    default="zero",
    show_default=True,
    help="Queries without a relevant document score 0, or are left out.",
)
test_option = click.option(
    "--test",
    metavar="TEST",
    default="randomization",
    show_default=True,
    shell_complete=complete_from("deadheat.comparison.pairs:TESTS"),
    help="randomization, bootstrap-t, bootstrap, t, wilcoxon, sign or tukey.",
)
correction_option = click.option(
    "--correction",
    metavar="none|bonferroni|holm|bh",
    default="holm",
    show_default=True,
    shell_complete=complete_from("deadheat.stats:CORRECTIONS"),
    help="Of p values, for the number of rows of a measure.",
)
alternative_option = click.option(
    "--alternative",
    metavar="two-sided|greater|less",
    default="two-sided",
    show_default=True,
    shell_complete=complete_from("deadheat.stats:ALTERNATIVES"),
    help="Of the difference, system - baseline.",
)
precision_option = click.option(
    "--score-precision",
    metavar="PRECISION",
    help="Round all scores first: float32, float16, bfloat16 or a number of decimals.",
)


def _allow_decompressed(ctx: click.Context, _: click.Parameter, value: int | None) -> None:
    if value is not None:
        from deadheat.io.limits import max_decompressed

        ctx.with_resource(max_decompressed(value))


decompressed_option = click.option(
    "--max-decompressed",
    type=click.IntRange(1),
    metavar="BYTES",
    expose_value=False,
    callback=_allow_decompressed,
    help="Most bytes that a compressed file or a pipe may hold in memory when unpacked [default: 4 GB, or 200 times the"
    " compressed size]. Compressed TREC is read piece by piece and needs no limit.",
)


def check_conventions(options: Mapping[str, Any], *, without: Collection[str] = ()) -> None:
    """Refuse, before anything is read, how an evaluation cannot be made; `without` are ties that do not suit either."""
    from deadheat.arguments import check_choice
    from deadheat.data.precision import check_precision
    from deadheat.evaluation.evaluate import MISSING, NO_RELEVANT
    from deadheat.placements.policies import POLICIES

    check_choice("ties", options["ties"], [policy for policy in POLICIES if policy not in without])
    check_choice("missing", options["missing"], MISSING)
    check_choice("no_relevant", options["no_relevant"], NO_RELEVANT)
    check_precision(options["score_precision"])


def passed_on(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that evaluate() takes too, under the same names."""
    from deadheat.evaluation.evaluate import OPTIONS

    return {name: options[name] for name in OPTIONS}


def split_measures(notations: Sequence[str]) -> list[str]:
    """Return single notations from what -m was given: separated by spaces or commas, bundles unpacked.

    Examples
    --------
    >>> split_measures(["nDCG@10 RR", "nDCG(gain='exp', discount='zipf(1, 0)')@5"])
    ['nDCG@10', 'RR', "nDCG(gain='exp', discount='zipf(1, 0)')@5"]
    >>> split_measures(["P(rel=2) @ 5 RR"])
    ['P(rel=2)@5', 'RR']
    """
    found = [part for text in notations for part in NOTATION.findall(AROUND_AT.sub("@", text))]
    if notations and not found:
        raise click.UsageError("-m names no measure; write one such as -m nDCG@10")
    return [part for notation in found for part in BUNDLES.get(notation, (notation,))]


def parsed_measures(notations: Sequence[str]) -> list[str] | None:
    """Return what -m was given as single notations, each of which can be parsed; None for the default."""
    from deadheat.measures import parse_measure

    found = split_measures(notations)
    for notation in found:
        parse_measure(notation)
    return found or None


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
    parts = [part for part in re.split(r"[\s,]+", text) if part]
    if not parts or not all(re.fullmatch("0*[1-9][0-9]{0,15}", part) for part in parts):
        msg = f"expected whole numbers from 1 on, such as 1,5,10; got {text!r}"
        raise click.BadParameter(msg, param=parameter)
    return tuple(sorted({int(part) for part in parts}))


def examples(*lines: str) -> dict[str, Any]:
    """Return click's epilog with examples, which it must not wrap."""
    return {"epilog": "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)}
