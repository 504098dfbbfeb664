"""Run the README's commands and Python with the deadheat that is installed, and nothing but the standard library.

`make release-check` calls it with the interpreters of fresh environments.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def find_blocks(page: str, language: str) -> list[str]:
    """Return the code blocks of a page that are in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)


def run_commands(page: str, folder: Path) -> list[str]:
    """Run the commands of a page one after the other; return those that do not print what is shown."""
    folder_of_scripts = Path(sys.executable).parent
    environment = {
        **os.environ,
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "PATH": f"{folder_of_scripts}{os.pathsep}{os.environ['PATH']}",
    }
    environment.pop("PYTHONPATH", None)
    wrong = []
    for block in find_blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            if command.startswith("cd "):
                folder /= command.removeprefix("cd ")
                continue
            done = subprocess.run(
                command.split(), cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False
            )
            printed = "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())
            if done.returncode != 0:
                wrong.append(f"{command}: exit code {done.returncode}\n{done.stderr}")
            elif shown and printed != shown.strip("\n"):
                wrong.append(f"{command}: prints\n{printed}")
    return wrong


def count_failed_examples(page: str, folder: Path) -> int:
    """Return how many Python examples of a page print something else, run in a folder."""
    example = "\n".join(block for block in find_blocks(page, "python") if ">>>" in block)
    test = doctest.DocTestParser().get_doctest(example, {}, "README.md", "README.md", 0)
    os.chdir(folder)
    return doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed


def main() -> int:
    """Return 0 where all of a page is true."""
    page = Path(sys.argv[1]).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        wrong = run_commands(page, Path(name))
        failed = count_failed_examples(page, Path(name, "demo-data"))
        os.chdir("/")
    for problem in wrong:
        print(problem)
    return int(bool(wrong) or failed > 0)


if __name__ == "__main__":
    sys.exit(main())
