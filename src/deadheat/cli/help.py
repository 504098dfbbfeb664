"""Help in two sizes: the options most used on one screen, and with --help-all every option, in groups."""

import re
from collections.abc import Sequence
from dataclasses import fields
from textwrap import wrap
from typing import Any

import click

from deadheat.settings import Conventions, Design, Rejudging, Saving

SCREEN = 76  # columns of an example, which is indented by four
MOST, MOST_EXAMPLES = 10, 2  # on one screen
OF_TIES = ("ties", "beside", "then_by", "score_precision")
HELP, HELP_ALL = "--help", "--help-all"
OWN = "options"  # the group of those that one command has
GROUPS: dict[str, tuple[str, ...]] = {  # names of parameters; what no group has is the command's own
    "input": (
        *("repeats", "queries", "columns", "decimal", "encoding", "ascending", "normalize_ids", "collection", "strict"),
        *("spans", "overlap", "overlap_of", "documents", "id_pattern", "language", "input_format", "engine"),
        *("grades", "judge", "fill"),
        *("spark_master", "spark_conf", "check_duplicates", "max_decompressed", "max_memory"),
    ),
    "measures": ("notations", *(one.name for one in fields(Conventions) if one.name not in OF_TIES)),
    "ties": OF_TIES,
    "statistics": (
        *("ci", "quantiles", "baseline"),
        *(one.name for one in (*fields(Design), *fields(Rejudging)) if one.metadata.get("help")),
        *("cluster", "seed", "margin", "by", "weights", "pool_languages"),
    ),
    "output": (
        *("per_query", "save", *(one.name for one in fields(Saving)), "label", "commit", "figures", "figure_format"),
        *("no_title", "figure_width"),
        *("form", "output", "digits", "table", "quiet", "verbose", "debug", "help_all"),
    ),
}
MOST_USED = (
    *("notations", "checks", "baseline", "output", "form", "queries", "by", "ties", "ci", "save", "per_query"),
    *("no_regression", "retrievers", "test", "margin", "repeats"),
)


def group_of(option: click.Parameter) -> str:
    """Return the name of the group of an option."""
    if HELP in option.opts:  # of the name that click gives it
        return "output"
    return next((group for group, names in GROUPS.items() if option.name in names), OWN)


class Command(click.Command):
    """A command whose --help is one screen, and whose --help-all has every option and example.

    Parameters
    ----------
    *given, **own
        As click's.
    examples : sequence of str
        Commands, the most useful first; a comment is four spaces behind.
    """

    def __init__(self, *given: Any, examples: Sequence[str] = (), **own: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*given, **own)
        text = "\n".join(examples).replace("\\\n", "\\\0")  # one may go on in the next line
        self.examples = [one.split("\0") for one in text.split("\n")]
        every = click.Option(
            [HELP_ALL],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=self._show_all,
            help="Show every option, in groups, and all examples.",
        )
        self.params.append(every)

    def _show_all(self, ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's
        if value and not ctx.resilient_parsing:
            ctx.meta["help_all"] = True
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options most used, or all of them in their groups."""
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        if not ctx.meta.get("help_all"):
            used = sorted(options, key=_usefulness)[:MOST]
            shown = [one for one in options if one in used or {HELP, HELP_ALL} & {*one.opts}]
            with formatter.section("Options"):
                formatter.write_dl([_in_short(one.get_help_record(ctx)) for one in shown])
            return
        for group in (OWN, *GROUPS):
            if own := [one for one in options if group_of(one) == group]:
                with formatter.section(group.capitalize()):
                    formatter.write_dl([one.get_help_record(ctx) or ("", "") for one in own])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write examples, which click must not wrap; long ones are broken as in a shell."""
        shown = self.examples if ctx.meta.get("help_all") else self.examples[:MOST_EXAMPLES]
        with formatter.section("Examples"):
            formatter.write("".join(f"  {part}\n" for lines in shown for line in lines for part in _folded(line)))


def _usefulness(option: click.Parameter) -> tuple[bool, int]:
    """Return what options are sorted by: those required, the most used, the command's own, then all others."""
    place = MOST_USED.index(str(option.name)) if option.name in MOST_USED else len(MOST_USED)
    return not option.required, place + (place == len(MOST_USED) and group_of(option) != OWN)


def _in_short(record: tuple[str, str] | None) -> tuple[str, str]:
    """Return an option and the first sentence of its help."""
    names, text = record or ("", "")
    first = re.split(r"(?<=\.) ", text, maxsplit=1)[0]
    return names, first + "  [required]" * ("[required]" in text and "[required]" not in first)


def _folded(line: str) -> list[str]:
    """Return an example in lines that fit a screen: its comment above it, its last words on the next lines."""
    if len(line) <= SCREEN:
        return [line]
    command, mark, comment = line.partition("    # ")
    whole = re.sub("'[^']*'", lambda found: found[0].replace(" ", "\0"), command)  # what is quoted stays together
    parts = wrap(whole, SCREEN - 2, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    text = " \\\n".join(parts).replace("\0", " ")
    return [*([f"# {comment}"] if mark else []), *text.split("\n")]
