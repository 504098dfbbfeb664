"""Every option of deadheat bench reaches what it is of: a value that is not the default changes a number."""

from __future__ import annotations

import csv
import json
import sys
from functools import reduce
from typing import TYPE_CHECKING, Any

import pytest

import deadheat as dh
from deadheat.core.cli.errors import BAD_DATA, USAGE
from deadheat.plugins.bench.result import Key
from support.command import call, ok
from support.demo import BENCH, DEMO

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("narrow")

MEANS = ("means", "phrases", "en", "bm25")
WORSE = ("comparisons", "phrases", "en", "worse", "bm25", "RR")  # it finds nothing good


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return a command with three retrievers, one of which finds the wrong documents, and an ontology."""
    folder = tmp_path_factory.mktemp("bench")
    tree = "\n\n".join(
        f"[Term]\nid: H{number:03}\nname: term {number}" + (f"\nis_a: H{number // 2:03}" if number > 1 else "")
        for number in range(1, 101)
    )
    (folder / "tree.obo").write_text(f"format-version: 1.2\n\n{tree}\n")
    (folder / "worse.run").write_text("".join(f"p{number:02} Q0 H100 1 1.0 worse\n" for number in range(1, 11)))
    retrievers = ["bm25", "bm25(strings='joined')", str(folder / "worse.run")]
    return [
        *BENCH,
        *("--ontology", str(folder / "tree.obo"), "-m", "RR MaxRel@1"),
        *(part for name in retrievers for part in ("--retriever", name)),
    ]


def document(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ok(*arguments, "--format", "json"))
    return found


@pytest.fixture(scope="module")
def plain(command: list[str]) -> dict[str, Any]:
    return document(*command)


def at(found: dict[str, Any], keys: tuple[str, ...]) -> Any:  # noqa: ANN401 - what JSON holds
    return reduce(lambda held, key: held[key], keys, found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ("--k 1", {("k",): 1, (*MEANS, "RR", "mean"): None}),
        ("--limit 4", {("limit",): 4, (*MEANS, "RR", "n_cases"): 4}),
        ("--similarity path", {("similarity",): "path", (*MEANS, "MaxRel@1", "mean"): None}),
        ("--correction none", {(*WORSE, "p_adjusted"): None}),
        ("--test t", {("test",): "t", (*WORSE, "p_value"): None}),
        ("--alternative greater", {(*WORSE, "p_value"): 1.0}),
        ("--confidence-level 0.8", {("confidence_level",): 0.8, (*MEANS, "RR", "low"): None, (*WORSE, "high"): None}),
        ("--ci-method percentile", {(*MEANS, "RR", "low"): None, (*WORSE, "high"): None}),
        ("--n-resamples 150", {("n_resamples",): 150}),
        ("--rng 3", {("rng",): 3}),
        ("--cluster expected_ids", {("cluster",): "expected_ids", (*WORSE, "standard_error"): None}),
        ("--synonyms none", {(*MEANS, "RR", "mean"): None}),
    ],
)
def test_an_option_changes_what_it_is_of(
    options: str, changed: dict[tuple[str, ...], object], command: list[str], plain: dict[str, Any]
) -> None:
    name, value = options.split()
    given = [*command, name, value]
    if name in command:  # which takes one value
        given = [*command]
        given[given.index(name) + 1] = value
    found = document(*given)
    for keys, expected in changed.items():
        assert at(found, keys) != at(plain, keys), keys
        assert expected is None or at(found, keys) == expected


def test_without_a_correction_p_stays_as_it_is(command: list[str], plain: dict[str, Any]) -> None:
    assert at(plain, (*WORSE, "p_adjusted")) > at(plain, (*WORSE, "p_value"))
    found = document(*command, "--correction", "none")
    assert at(found, (*WORSE, "p_adjusted")) == at(found, (*WORSE, "p_value")) == at(plain, (*WORSE, "p_value"))


def test_with_a_baseline_all_others_are_compared_with_it(command: list[str], plain: dict[str, Any]) -> None:
    pairs = ("comparisons", "phrases", "en")
    assert {system: set(own) for system, own in at(plain, pairs).items()}["worse"] == {"bm25", "bm25(strings='joined')"}
    found = document(*command, "--baseline", "worse")
    assert {system: set(own) for system, own in at(found, pairs).items()} == {
        "bm25": {"worse"},
        "bm25(strings='joined')": {"worse"},
    }


@pytest.mark.slow
def test_cutoffs_and_output(tmp_path: Path) -> None:
    found = document(*BENCH, "--at", "2,7", "--output", str(tmp_path))
    assert [name for name in at(found, MEANS) if name.startswith("Hit")] == ["Hit@2", "Hit@7"]
    result = dh.bench(DEMO / "phrases.csv", DEMO / "documents.csv", at=[2, 7], n_resamples=200)
    saved = dh.load_evaluation(tmp_path / "evaluations" / "phrases.en.bm25.json")
    assert saved.means() == result.evaluations[Key("phrases", "en", "bm25")].means()


@pytest.mark.slow
def test_strata_in_every_format(tmp_path: Path) -> None:
    command = [*BENCH, "-m", "RR Hit@1", "--by", "difficulty", "--ci-method", "t"]
    table, markdown = ok(*command), ok(*command, "--format", "markdown")
    levels = [line.split()[0] for line in table.splitlines() if line.startswith(("easy ", "medium ", "hard "))]
    assert levels[:3] == ["easy", "medium", "hard"]
    assert [markdown.index(f"| {level} |") for level in levels[:3]] == sorted(
        markdown.index(f"| {level} |") for level in levels[:3]
    )
    found = document(*command, "--output", str(tmp_path))
    strata = at(found, ("strata", "phrases", "en", "bm25"))
    with (DEMO / "phrases.csv").open(encoding="utf-8") as file:
        ids = {row["case_id"]: row["difficulty"] for row in csv.DictReader(file)}
    values = dh.load_evaluation(tmp_path / "evaluations" / "phrases.en.bm25.json").to_dict()
    assert list(strata) == ["easy", "medium", "hard"]
    for level, own in strata.items():
        of_level = [values[case]["RR"] for case, label in ids.items() if label == level]
        assert own["RR"]["n_cases"] == len(of_level)
        assert own["RR"]["mean"] == pytest.approx(sum(of_level) / len(of_level))
        assert own["RR"]["is_small"]
    assert [own["RR"]["unknown"] for own in strata.values()] == [
        "all 5 values are equal",
        "only 3 queries",
        "only 2 queries",
    ]
    rows = list(csv.DictReader(ok(*command, "--format", "csv").splitlines()))
    assert [(row["difficulty"], row["measure"]) for row in rows[:3]] == [
        ("easy", "RR"),
        ("easy", "Hit@1"),
        ("medium", "RR"),
    ]
    assert float(rows[2]["mean"]) == strata["medium"]["RR"]["mean"]
    assert json.loads((tmp_path / "bench.json").read_text())["by"] == ["difficulty"]


def test_files_of_one_name_in_two_folders(tmp_path: Path) -> None:
    for folder in ("north", "south"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tiny.csv").write_text("text,expected_ids\nRepair a flat tyre,H001\n")
    files = [str(tmp_path / folder / "tiny.csv") for folder in ("north", "south")]
    found = document("bench", *files, *BENCH[2:], "-m", "RR")
    assert list(found["means"]) == ["north/tiny", "south/tiny"]


def test_a_set_that_is_given_twice_is_refused_in_words_of_the_command() -> None:
    result = call("bench", BENCH[1], *BENCH[1:])
    assert result.exit_code == USAGE
    message = "two sets of cases are named 'phrases': give one another dataset_id, or its file another name"
    assert message in result.stderr


def test_a_prompt_is_text(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_bytes(b"Grade {query}\n\xfcber {document}\n")
    judged = [*BENCH, "--reranker", "llm", "--endpoint", "http://localhost:1/v1", "--model", "m", "--yes"]
    result = call(*judged, "--prompt", prompt)
    assert result.exit_code == BAD_DATA
    assert f"{prompt}:2: the text is not UTF-8 (byte 0xFC" in result.stderr
    prompt.unlink()
    result = call(*judged, "--prompt", prompt)
    assert result.exit_code == BAD_DATA
    assert f"{prompt}: no such file" in result.stderr


OWN_CODE = """
import sys

def fails(query, text):
    raise ValueError("of my own")

def ends(query, text):
    sys.exit(0)

class Odd:
    def __getattr__(self, name):
        raise KeyError(name)

    def __call__(self, query, text):
        return 1

odd = Odd()
"""


@pytest.mark.parametrize(
    ("spec", "code", "told"),
    [
        (
            "own:fails",
            3,
            ["in fails\n", "ValueError: of my own\nError: the reranker 'own:fails' raised ValueError: of"],
        ),
        ("own:ends", 3, ["in ends\n", "the reranker 'own:ends' raised SystemExit: 0"]),
        ("own:odd", 3, ["in __getattr__\n", "the reranker 'own:odd' raised KeyError: 'key'"]),
        ("ends_at_once:f", 3, ["in <module>\n", "the reranker 'ends_at_once:f' raised SystemExit: 5"]),
        ("..:x", 2, ["--reranker must be module:function"]),
        (":x", 2, ["--reranker must be module:function"]),
        ("own:nothing", 2, ["module 'own' has no attribute 'nothing'"]),
    ],
)
def test_code_of_the_user_that_fails_is_no_bug_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, code: int, told: list[str]
) -> None:
    (tmp_path / "own.py").write_text(OWN_CODE)
    (tmp_path / "ends_at_once.py").write_text("raise SystemExit(5)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("own", "ends_at_once"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    result = call(*BENCH, "--limit", "1", "--reranker", spec)
    assert result.exit_code == code, result.stderr
    for words in told:
        assert words in result.stderr
    assert "deadheat/benchmark" not in result.stderr
