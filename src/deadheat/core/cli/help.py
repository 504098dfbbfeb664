"""Options and commands whose help has two sizes: one screen, and with --help-all every option under its heading."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import Any

import click

from deadheat.core import hooks
from deadheat.core.cli.errors import refuse_if, refuse_repeated
from deadheat.core.gone import find_replacement

SCREEN = 76  # columns of an example, which is indented by four
MOST, MOST_EXAMPLES = 10, 2  # on one screen
HELP, HELP_ALL = "--help", "--help-all"
OWN = "options"  # the heading of options that only one command has
HEADINGS = (OWN, "input", "measures", "ties", "statistics", "output")  # of --help-all, in this order


class Option(click.Option):
    """An option that knows where help lists it.

    Parameters
    ----------
    *given, **more
        As click's.
    heading : str, default "options"
        One of `HEADINGS`: what --help-all lists it under.
    rank : int, optional
        How early it comes among the options most used, which --help shows: those with the lowest ranks. Without one it
        comes after those that have one.
    """

    def __init__(self, *given: Any, heading: str = OWN, rank: int | None = None, **more: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*given, **more)
        if heading not in HEADINGS:
            raise ValueError(f"{self.name}: heading is {heading!r}, expected one of {HEADINGS}")
        self.heading = heading
        self.rank = rank


def option(*names: str, heading: str = OWN, rank: int | None = None, **more: Any) -> Callable[[Any], Any]:  # noqa: ANN401 - click's
    """Return a decorator that gives a command an `Option`."""
    return click.option(*names, cls=Option, heading=heading, rank=rank, **more)


def _keep_flag(ctx: click.Context, option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's
    """Keep what was asked for: a group and its commands share it."""
    if value:
        ctx.meta[str(option.name)] = True
        refuse_if(ctx.meta.get("quiet") and ctx.meta.get("verbose"), "--quiet and --verbose are mutually exclusive")


def flags(command: Any) -> Any:  # noqa: ANN401 - whatever click decorates
    """Add what every command takes, before or after its name: --quiet, --verbose and --debug."""
    for name, text in (
        ("--debug", "Show tracebacks of errors."),
        ("--verbose", "Say on stderr what is done, and how long each step takes."),
        ("--quiet", "Say nothing on stderr but errors: no notes, warnings or progress."),
    ):
        decorate = option(
            name,
            heading="output",
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_keep_flag,
            help=text,
        )
        command = decorate(command)
    return command


def heading_of(parameter: click.Parameter) -> str:
    """Return the heading that --help-all lists an option under."""
    if isinstance(parameter, Option):
        return parameter.heading
    return "output" if HELP in parameter.opts else OWN  # click makes --help


class Command(click.Command):
    """A command whose --help is one screen, and whose --help-all has every option and example.

    Parameters
    ----------
    *given, **own
        As click's.
    examples : sequence of str
        Commands, the most useful first; a comment follows after four spaces. One with an option of a plugin that is not
        there is not shown, nor is such a paragraph of the help.
    """

    def __init__(self, *given: Any, examples: Sequence[str] = (), **own: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*given, **own)
        if self.help:
            paragraphs = self.help.split("\n\n")
            self.help = "\n\n".join(one for one in paragraphs if not hooks.needs_missing_option(one))
        there = [one for one in examples if not hooks.needs_missing_option(one)]
        # one may go on in the next line
        self.examples = [one.split("\0") for one in "\n".join(there).replace("\\\n", "\\\0").split("\n")]
        self.params.append(
            Option(
                [HELP_ALL],
                heading="output",
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=self._show_all,
                help="Show every option, in groups, and all examples.",
            )
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; an option that takes one value and is given more often is an error."""
        if not ctx.resilient_parsing:
            given = self._parse_options(ctx, args)
            is_help = any({HELP, HELP_ALL} & set(option.opts) for option in given)
            if not is_help:
                refuse_repeated(given)
        return super().parse_args(ctx, args)

    def _parse_options(self, ctx: click.Context, args: list[str]) -> list[click.Parameter]:
        """Return an option for each time that one was given; of one that is gone say what to write instead."""
        try:
            _, _, given = self.make_parser(ctx).parse_args(list(args))
        except click.NoSuchOption as error:
            name = error.option_name
            instead = find_replacement(f"{ctx.info_name} {name}", name)
            refuse_if(instead, f"the option {name} is gone: {instead}")
            plugin = hooks.find_plugin_of_option(name)
            if plugin is not None and not hooks.is_installed(plugin):
                raise click.UsageError(str(hooks.missing_plugin(name, plugin)), ctx) from None
            raise
        return given

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
        for heading in HEADINGS:
            listed = [option for option in options if heading_of(option) == heading]
            if listed:
                with formatter.section(heading.capitalize()):
                    formatter.write_dl([option.get_help_record(ctx) or ("", "") for option in listed])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write examples, which click must not wrap; long ones are broken as in a shell."""
        shown = self.examples if ctx.meta.get("help_all") else self.examples[:MOST_EXAMPLES]
        with formatter.section("Examples"):
            formatter.write("".join(f"  {part}\n" for lines in shown for line in lines for part in _folded(line)))


def _usefulness(option: click.Parameter) -> tuple[bool, float, bool]:
    """Return what options are sorted by: those required, the most used, the command's own, then all others."""
    rank = getattr(option, "rank", None)
    if rank is not None:
        return not option.required, rank, False
    return not option.required, math.inf, heading_of(option) != OWN


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
    return [*([f"# {comment}"] if mark else []), *" \\\n".join(parts).replace("\0", " ").split("\n")]
