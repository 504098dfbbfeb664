"""What the process that draws runs: a script, which reads calls of vl-convert as lines of JSON and writes the answers.

While vl-convert draws, Python waits: no signal is handled, and no thread runs. So what has to end this process then is
asked of the system before.
"""

import faulthandler
import json
import os
import sys
from base64 import b64encode
from typing import Any

if sys.platform != "win32":
    import fcntl


def main(longest: float, folder: str) -> None:
    """Answer calls until standard input ends.

    Parameters
    ----------
    longest : float
        Seconds of a call, after which this process ends.
    folder : str
        In which vl-convert is.
    """
    sys.path.append(folder)
    import vl_convert

    vl_convert.vegalite_to_svg(_first_chart())
    for line in sys.stdin.buffer:
        faulthandler.dump_traceback_later(longest, exit=True)
        _end_with_the_other_end(is_wanted=True)
        answer = _answer(vl_convert, **json.loads(line))
        _end_with_the_other_end(is_wanted=False)
        faulthandler.cancel_dump_traceback_later()
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _first_chart() -> dict[str, Any]:
    """Return a chart of all marks, as what is drawn for the first time takes long."""
    fields = {
        "x": {"field": "x", "type": "quantitative"},
        "y": {"field": "y", "type": "nominal"},
        "color": {"field": "y", "type": "nominal"},
    }
    layers = [{"mark": mark, "encoding": fields} for mark in ("point", "bar", "rule", "line", "text")]
    return {"data": {"values": [{"x": 1, "y": "a"}]}, "title": "a", "layer": layers}


def _end_with_the_other_end(*, is_wanted: bool) -> None:
    """Have the system end this process, or not, when nobody can write to its standard input any more.

    Linux does so at once, other systems when the time of the call is over.
    """
    if sys.platform != "win32":
        flags = fcntl.fcntl(0, fcntl.F_GETFL)
        flags = flags | os.O_ASYNC if is_wanted else flags & ~os.O_ASYNC
        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(0, fcntl.F_SETFL, flags)


def _answer(library: Any, call: str, arguments: dict[str, Any]) -> dict[str, str]:  # noqa: ANN401 - a module
    try:
        result = getattr(library, call)(**arguments)
    except BaseException as error:  # noqa: BLE001 - a panic of Rust is no Exception
        return {"error": str(error)}
    if isinstance(result, bytes):
        return {"bytes": b64encode(result).decode()}
    return {"text": result}


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2])
