"""The command ``deadheat plugins``."""

from typing import Any

from deadheat.core.cli.options import command, with_options
from deadheat.core.cli.printing import Output, output_options


@command("deadheat plugins", "deadheat plugins --format json    with every name that each adds")
@output_options("document")
@with_options("flags")
def plugins(**options: Any) -> None:  # noqa: ANN401 - click's
    """List the plugins that are there, what each adds, and what is missing or left out.

    Plugins of other distributions are found by their entry point. One that cannot be loaded, or takes a name that is
    taken, is left out: the table says why.
    """
    from deadheat.core.report.of_plugins import report_plugins

    Output(options).print(report_plugins())
