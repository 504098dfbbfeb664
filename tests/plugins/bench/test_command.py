"""deadheat bench, as a new user calls it."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from deadheat.core.cli.errors import BAD_DATA, USAGE
from support.command import call, ok
from support.demo import BENCH, DEMO
from support.shared_data import HPO, needs_shared_data

pytestmark = pytest.mark.usefixtures("narrow")


def test_ten_phrases_and_a_hundred_documents_of_ones_own(tmp_path: Path) -> None:
    rows = [(f"t{number}", f"topic number{number} word{number % 7}") for number in range(100)]
    with (tmp_path / "documents.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "text"), *rows])
    with (tmp_path / "cases.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text", "expected_ids"), *((f"number{n}", f"t{n}") for n in range(10))])
    out = ok("bench", tmp_path / "cases.csv", "--collection", tmp_path / "documents.csv", "--output", tmp_path / "out")
    (low,) = re.findall(r"^RR +1\.0000 +\[(0\.\d+), 1\.0000\]", out, re.MULTILINE)
    assert float(low) == pytest.approx(0.025 ** (1 / 10), abs=0.02)  # Clopper and Pearson's of ten successes
    assert (tmp_path / "out" / "report.md").read_text().startswith("**bm25 on cases**")


@pytest.mark.parametrize("options", [[], ["--retriever", "bm25", "--retriever", "bm25(k1=1.2)"], ["--limit", "4"]])
def test_the_screen_fits_80_columns(options: list[str]) -> None:
    out = ok(*BENCH, *options)
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.slow
def test_a_table_for_programs() -> None:
    rows = list(csv.DictReader(ok(*BENCH, "--format", "csv", "--at", "1,20").splitlines()))
    assert [row["measure"] for row in rows][:3] == ["RR", "Hit@1", "Hit@20"]
    assert rows[0]["language"] == "en"
    document = json.loads(ok(*BENCH, "--format", "json", "--retriever", "bm25", "--retriever", "bm25(b=0)"))
    assert document["means"]["phrases"]["en"]["bm25"]["RR"]["n_cases"] == 10
    assert document["comparisons"]["phrases"]["en"]["bm25(b=0)"]["bm25"]["RR"]["wins"] >= 0


def test_markdown_has_all_measures_and_strata() -> None:
    out = ok(*BENCH, "--format", "markdown")
    assert "| AP(norm='min')@3 |" in out
    assert "### phrases (en) by category" in out


@pytest.mark.slow
def test_progress_is_on_stderr_and_finished_work_is_named(tmp_path: Path) -> None:
    first, second = (call(*BENCH, "--output", tmp_path) for _ in range(2))
    assert "10 searches in" in first.stderr
    assert "bm25 on phrases (en): finished before" in second.stderr
    assert first.stdout == second.stdout


def test_a_language_that_is_given_is_no_filter() -> None:
    warning = "Warning: --language de applies to cases without a language: those in en of "
    assert warning in call(*BENCH, "--language", "de").stderr
    assert "--language" not in call(*BENCH, "--language", "en").stderr


def test_one_search_is_a_search() -> None:
    assert "phrases (en): 1 search in" in call(*BENCH, "--limit", "1").stderr


@pytest.mark.slow
def test_killed_in_the_middle_and_started_again(tmp_path: Path) -> None:
    """A process that is killed without a chance to say anything leaves what it has finished."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys\n"
        "import deadheat as dh\n"
        "class Own:\n"
        "    name = key = 'own'\n"
        "    def index(self, documents): pass\n"
        "    def search(self, texts, k):\n"
        "        print('search', flush=True)\n"
        "        os._exit(9) if 'die' in sys.argv else None\n"
        "        return [{'H001': 1.0} for _ in texts]\n"
        f"dh.bench({str(DEMO / 'phrases.csv')!r}, {str(DEMO / 'documents.csv')!r}, ['bm25', Own()],"
        f" 'RR', output={str(tmp_path / 'out')!r}, progress=print)\n"
    )
    killed = subprocess.run([sys.executable, script, "die"], capture_output=True, text=True, check=False)
    assert killed.returncode == 9
    assert killed.stdout.endswith("search\n")
    again = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert "bm25 on phrases (en): finished before" in again.stdout
    third = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert "search\n" not in third.stdout


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--retriever", "bm52"], USAGE, "Did you mean 'bm25'"),
        (["--baseline", "x"], USAGE, "--baseline must be one of 'bm25'"),
        (["--cluster", "domain"], BAD_DATA, "got 'domain'; 10 of 10 cases have none"),
        (["--cluster", "expected_id"], USAGE, "Did you mean 'expected_ids'"),
        (["--by", "domain"], USAGE, "--by must be a label that cases have (category, difficulty), got 'domain'"),
        (["--ontology", "nowhere.obo"], BAD_DATA, "no such file"),
        (["--similarity", "lin"], USAGE, "add --ontology FILE"),
        (["--synonyms", "some"], USAGE, "--synonyms must be one of 'exact', 'all', 'none'"),
        (["--id-pattern", "HP:[0-9]{7}"], BAD_DATA, "HP:[0-9]{7}"),
        (["--at", "100"], USAGE, "--k must be 100 or more, as Hit@100 looks at 100 documents, got 50"),
        (
            ["--at", "5", "-m", "RR"],
            USAGE,
            "--at sets the cutoffs of the default measures, not of those that are named, got 5; write nDCG@20",
        ),
        (
            ["--test", "wilcoxon", "--cluster", "expected_ids"],
            USAGE,
            "--test must be one of 'randomization', 'bootstrap-t', 'bootstrap', 't', 'tukey' with --cluster, got",
        ),
        (["--alternative", "more"], USAGE, "--alternative must be one of 'two-sided', 'greater', 'less'"),
        (["--retriever", "old.run"], BAD_DATA, "old.run: no such file"),
        (["-m", "nDGC@10"], USAGE, "Did you mean 'nDCG'"),
        (["--test", "z-test"], USAGE, "--test must be one of"),
        (["--output", str(DEMO / "SOURCE.md")], USAGE, "is not a writable folder"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_searched(options: list[str], code: int, message: str) -> None:
    result = call(*BENCH, *options)
    assert result.exit_code == code
    assert message in result.stderr
    assert "searches in" not in result.stderr
    assert result.stdout == ""


def test_cases_without_a_language_are_given_one(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("text,expected_ids\nRepair a flat tyre,H001\n")
    arguments = [tmp_path / "cases.csv", *BENCH[2:], "--language", "fr", "--synonyms", "none"]
    assert "cases (fr): 1 case" in ok("bench", *arguments)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="this system has no /dev/stdin")
def test_cases_on_the_standard_input_need_a_format() -> None:
    def piped(*options: str) -> subprocess.CompletedProcess[str]:
        program = [sys.executable, "-m", "deadheat", "bench", "-", *BENCH[2:], "-m", "RR", *options]
        data = (DEMO / "phrases.csv").read_text()
        return subprocess.run(program, input=data, capture_output=True, text=True, check=False)

    refused, read = piped(), piped("--input-format", "csv")
    assert refused.returncode == BAD_DATA
    assert (
        "save it in a file that ends in .json, .jsonl, .csv, .tsv or .xlsx, or give --input-format json"
        in refused.stderr
    )
    assert read.stdout.startswith("stdin (en): 10 cases\n")


def test_an_ontology_that_is_read_is_said(tmp_path: Path) -> None:
    terms = "\n\n".join(f"[Term]\nid: H{number:03}\nname: word{number}" for number in range(1, 101))
    (tmp_path / "terms.obo").write_text(f"format-version: 1.2\n\n{terms}\n")
    result = call(*BENCH, "--ontology", tmp_path / "terms.obo", "-m", "RR")
    assert result.stderr.count(f"reading {tmp_path / 'terms.obo'}") == 1


@needs_shared_data
@pytest.mark.slow
def test_the_570_cases_have_494_ids_and_their_clusters_wider_intervals(tmp_path: Path) -> None:
    cases = HPO.parent / "benchmarks" / "570terms_german.json"
    ontology = HPO.parent / "ontology" / "hp-2025-01-16.obo.gz"
    options = ["--ontology", ontology, "--cluster", "expected_ids", "--output", tmp_path, "--format", "json"]
    document = json.loads(ok("bench", cases, "--collection", ontology, *options))
    assert document["width_by_clusters"]["570terms_german"] > 1.03
    report = (tmp_path / "report.md").read_text()
    ratio = document["width_by_clusters"]["570terms_german"]
    assert f"570 cases in 494 clusters; intervals of RR are {ratio:.2f} times as wide as without" in report
    assert "random terms, 570terms\\_german: MaxRel@1 0.0391" in report
    means = document["means"]["570terms_german"]["(none)"]["bm25"]
    assert means["Hit@1"]["mean"] == means["P@1"]["mean"]
    assert means["RR"]["mean"] >= means["Hit@1"]["mean"]
