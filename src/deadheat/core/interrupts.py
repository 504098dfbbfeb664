"""Ctrl-C while the command starts: one line and exit code 130, from the first file of this package on.

Imported before anything else, so it needs no module that is not there already.
"""

import os
import sys

TYPE_CHECKING = False  # as in typing, which takes longer to import than this file may
if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import TracebackType

INTERRUPTED = 130  # exit code: 128 and the number of the signal
SOON = 0.02  # seconds until an interrupt that was lost comes again


def is_command() -> bool:
    """Return whether this process is the command ``deadheat``, or ``python -m deadheat``, and no other program."""
    program = os.path.basename(sys.argv[0]) if sys.argv else ""  # noqa: PTH119 - pathlib takes long to import
    is_module = program == "-m" and "deadheat" in sys.orig_argv[1:4]
    return is_module or program in {"deadheat", "deadheat.exe", "deadheat-script.py"}


def end_interrupted() -> None:
    """End the process, and say why."""
    try:
        os.write(sys.stderr.fileno(), b"Interrupted\n")  # which need not be 2
    finally:  # standard error may be closed
        os._exit(INTERRUPTED)


def end_if_interrupted(kind: type[BaseException], error: BaseException, traceback: "TracebackType | None") -> None:
    """Take the place of `sys.excepthook`: an interrupt has no traceback."""
    if issubclass(kind, KeyboardInterrupt):
        end_interrupted()
    sys.__excepthook__(kind, error, traceback)


def interrupt_again(lost: "UnraisableHookArgs") -> None:
    """Take the place of `sys.unraisablehook`: an interrupt that came where Python ignores errors comes again."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    from _thread import interrupt_main
    from threading import Timer

    Timer(SOON, interrupt_main).start()


IS_COMMAND = is_command()  # later on the words of the process are others
if IS_COMMAND:
    sys.excepthook = end_if_interrupted
    sys.unraisablehook = interrupt_again
