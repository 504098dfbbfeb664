"""Pages of the documentation, run as a reader would: what a page shows is what comes out.

From the top to the bottom: commands (``console``), Python (``>>>``), and files, which are code blocks with a caption.
A file that a command wrote before is shown as it was written, but for empty cells, which a reader may have filled in.
All of a page is in one folder, and its Python shares its names. Where outputs changed on purpose, this renews them:

    PYTHONPATH=tests python -m support.pages docs/for/*.md docs/guide/*.md
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"^```\{code-block\} \w+\n:caption: (?P<name>\S+)\n+(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
ANY = re.compile(rf"{FILE.pattern}|{BLOCK.pattern.replace('<code>', '<block>')}", re.DOTALL | re.MULTILINE)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PROGRAMS = ("deadheat", "pytest")


class Reader:
    """Someone who does all that a page says, in one folder.

    Attributes
    ----------
    folder : Path
        Where the reader is; ``cd`` changes it.
    n_done : int
        Commands and statements so far.
    exit_code : int
        Of the last command. One that is not 0 has to be shown: ``echo $?`` follows.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.n_done = 0
        self.exit_code = 0
        self._given = set[Path]()

    def read(self, page: str) -> str:
        """Return the page with what came out in place of what it shows; the same text, if the page is true."""
        done = ANY.sub(self._do, page)
        assert self.exit_code == 0, "a command that fails is followed by: $ echo $?"
        return done

    def _do(self, found: re.Match[str]) -> str:
        whole = found.group()
        if name := found["name"]:
            path = self.folder / name
            shown = found["code"]
            if path.exists() and path not in self._given:
                shown = filled_in(path.read_text(encoding="utf-8"), shown)
            self._given.add(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(shown, encoding="utf-8")
            return whole.replace(found["code"], shown)
        code = found["block"]
        if found["language"] == "console":
            return whole.replace(code, self._commands(code))
        if found["language"] == "python":
            assert ">>> " in code, f"Python that nothing runs: {code}"
            return whole.replace(code, self._python(code))
        return whole

    def _commands(self, block: str) -> str:
        parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
        assert not parts[0], f"output without a command: {parts[0]}"
        return "".join(self._command(*part.partition("\n")[::2]) for part in parts[1:])

    def _command(self, line: str, shown: str) -> str:
        self.n_done += 1
        if line == "echo $?":
            out, self.exit_code = f"{self.exit_code}\n", 0
            return f"$ {line}\n{out}"
        assert self.exit_code == 0, f"the command before {line!r} failed"
        program, *arguments = shlex.split(line)
        if program == "cd":
            self.folder /= arguments[0]
            return f"$ {line}\n{shown}"
        assert program in PROGRAMS, f"the tests run none but {', '.join(PROGRAMS)}: {line}"
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "DEADHEAT"))}
        done = subprocess.run(
            [sys.executable, "-m", program, *arguments],
            cwd=self.folder,
            env=environment | {"COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        self.exit_code = done.returncode
        said = done.stdout or done.stderr
        out = "".join(f"{one.rstrip()}\n" for one in said.strip("\n").splitlines())
        return f"$ {line}\n{shown if not shown or same(shown, out) else out}"

    def _python(self, block: str) -> str:
        done = []
        for example in doctest.DocTestParser().get_examples(block):
            self.n_done += 1
            with contextlib.chdir(self.folder), contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(example.source, "<page>", "single"), self.names)  # noqa: S102 - a page of ours
            first, *rest = example.source.rstrip("\n").split("\n")
            lines = [f">>> {first}", *(f"... {line}".rstrip() for line in rest)]
            got = out.getvalue()
            done += [*lines, *(example.want if same(example.want, got) else got).splitlines()]
        return "\n".join(done) + "\n"


def filled_in(written: str, shown: str) -> str:
    """Return what a command wrote, with what a page that shows it has in its empty cells."""
    lines, found = written.splitlines(), shown.splitlines()
    if len(lines) != len(found):
        return written
    cells = [(one.split(","), other.split(",")) for one, other in zip(lines, found, strict=True)]
    kept = [
        ",".join(cell or filling for cell, filling in zip(own, its, strict=True)) if len(own) == len(its) else line
        for line, (own, its) in zip(lines, cells, strict=True)
    ]
    return "".join(f"{line}\n" for line in kept)


def same(shown: str, out: str) -> bool:
    """Tell whether a page shows what came out; ``...`` stands for anything."""
    return doctest.OutputChecker().check_output(shown, out, FLAGS)


def renew(path: Path) -> None:
    """Write a page anew with what comes out."""
    with tempfile.TemporaryDirectory() as folder:
        path.write_text(Reader(Path(folder)).read(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        renew(Path(name))
