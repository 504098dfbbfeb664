"""deadheat compare of saved evaluations: the same comparison as of the runs, but for ties by document id."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import deadheat as dh
from deadheat.errors import DataError
from support.command import call, names_in, ok

QRELS = "".join(f"q{q} 0 d{d} {(q + d) % 3 == 0:d}\n" for q in range(12) for d in range(6))


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of judgments, two runs and their saved evaluations, which each test has a copy of."""
    folder = tmp_path_factory.mktemp("evaluated")
    (folder / "qrels.txt").write_text(QRELS)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, step in (("one", 2), ("other", 3)):
            rows = [f"q{q} Q0 d{d} 1 {(q * step + d) % 4} t\n" for q in range(12) for d in range(6)]
            (folder / f"{name}.run").write_text("".join(rows))
            ok("evaluate", "qrels.txt", f"{name}.run", "-m", "nDCG@5 RR", "--save", f"{name}.json")
    return folder


@pytest.fixture
def folder(tmp_path: Path, evaluated: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(evaluated, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_saved_evaluations_are_compared_as_their_runs() -> None:
    of_runs = json.loads(ok("compare", "qrels.txt", "one.run", "other.run", "-m", "nDCG@5 RR", "--format", "json"))
    of_saved = json.loads(ok("compare", "one.json", "other.json", "--format", "json"))
    of_runs, of_saved = (one["pairs"]["other"]["one"] for one in (of_runs, of_saved))
    assert list(of_runs) == list(of_saved) == ["nDCG@5", "RR"]
    unknown = {"doc_id_mean", "doc_id_baseline_mean", "doc_id_difference", "doc_id_reverses"}
    for measure, found in of_runs.items():
        for key in found.keys() - unknown:
            assert found[key] == of_saved[measure][key], key
    assert ok("compare", "one.json", "other.json", "--baseline", "one.json", "-o", "x.csv") == ""


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_of_saved_evaluations_measures_are_chosen() -> None:
    chosen = json.loads(ok("compare", "one.json", "other.json", "-m", "MRR", "--format", "json"))
    whole = json.loads(ok("compare", "one.json", "other.json", "--format", "json"))
    assert [*chosen["pairs"]["other"]["one"]] == ["RR"]
    assert chosen["pairs"]["other"]["one"]["RR"]["difference"] == whole["pairs"]["other"]["one"]["RR"]["difference"]
    ok("report", "one.json", "other.json", "-m", "RR", "-o", "page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "nDCG@5" not in page


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["one.json", "other.run"], "one.json is a saved evaluation, and other.run is none"),
        (["one.json", "other.json", "-m", "AP"], "AP was not evaluated; this evaluation holds nDCG@5, RR"),
        (["one.json", "other.json", "--ties", "best"], "--ties is for QRELS RUN RUN...: one.json is already evaluated"),
        *(
            (["one.json", "other.json", *given], f"{given[0]} is for QRELS RUN RUN...")
            for given in (
                ["--missing", "skip"],
                ["--ascending"],
                ["--then-by", "one.run"],
                ["--normalize-ids", "NFC"],
                ["--columns", "score=x"],
                ["--grades", "drop"],
                ["--engine", "duckdb"],
            )
        ),
    ],
)
def test_what_saved_evaluations_cannot_take(arguments: list[str], message: str) -> None:
    result = call("compare", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.usefixtures("folder")
def test_labels_of_a_judge_beside_saved_evaluations_are_read_as_the_options_say() -> None:
    rows = [row.split() for row in QRELS.splitlines()]
    Path("llm.csv").write_text("\n".join(["topic,hit,relevance", *(f"{q},{d},{r}" for q, _, d, r in rows)]))
    own = ("one.json", "other.json", "--format", "json", "--judge")
    named = ok("compare", *own, "llm.csv", "--columns", "query_id=topic,doc_id=hit")
    assert json.loads(named)["pairs"] == json.loads(ok("compare", *own, "qrels.txt"))["pairs"]
    assert names_in(call("compare", *own, "llm.csv", "--ascending").stderr) == ["--ascending"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "arguments",
    [
        ["history", "one.json", "other.json", "--n-resamples", "0"],
        ["history", "one.json", "other.json", "--confidence-level", "0"],
        ["leaderboard", "one.json", "other.json", "--n-resamples", "0"],
        ["leaderboard", "one.json", "other.json", "--confidence-level", "0"],
        ["judges", "qrels.txt", "qrels.txt", "--confidence-level", "0"],
        ["judges", "qrels.txt", "qrels.txt", "--run", "one.run", "--run", "other.run", "--n-resamples", "0"],
    ],
)
def test_0_is_no_default(arguments: list[str]) -> None:
    result = call(*arguments)
    assert (result.exit_code, f"{arguments[-2]} must be a" in result.stderr) == (2, True), result.output


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "one.json", "one.run"],
        ["evaluate", "qrels.txt", "one.json"],
        ["compare", "qrels.txt", "one.json", "other.json"],
        ["ties", "one.json"],
        ["agree", "one.json", "one.run"],
        ["holes", "one.json", "one.run"],
        ["convert", "one.json", "x.csv", "--kind", "run"],
    ],
)
def test_a_saved_evaluation_is_no_qrels_and_no_run(arguments: list[str]) -> None:
    """Its keys are no queries."""
    result = call(*arguments)
    assert result.exit_code == 3
    assert "one.json: is a saved evaluation" in result.stderr
    assert "compare, gate and report" in result.stderr
    with pytest.raises(DataError, match="is a saved evaluation"):
        dh.read_run(json.loads(Path("one.json").read_text(encoding="utf-8")))


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_a_saved_evaluation_has_one_name_in_tables_facts_and_figures() -> None:
    """That of its file, and not that of the run which was saved there."""
    for name in ("one", "other"):
        Path(f"{name}.json").rename(f"new_{name}.json")
    ok("report", "new_one.json", "-o", "alone.html")
    ok("report", "new_one.json", "new_other.json", "-o", "both.html")
    pages = [re.sub(r"(?s)<(script|style).*?</\1>", "", Path(f"{one}.html").read_text()) for one in ("alone", "both")]
    for text in (ok("compare", "new_one.json", "new_other.json"), *pages):
        assert "new_one" in text
        assert re.findall(r".{30}\b(?:(?:one|other): |>(?:one|other)<|(?:one|other) \d+%)", text) == []
    found = dh.compare_evaluations({"A": "new_one.json", "B": dh.load_evaluation("new_other.json")})
    assert [one.name for one in found.evaluations.values()] == ["A", "B"]
    assert "of the top 5 documents: A " in " ".join(str(found).split()) or " A " in str(found)
    renamed = dh.compare("qrels.txt", {"A": dh.Run("one.run"), "B": dh.Run("other.run")}, "RR")
    assert [one.name for one in renamed.evaluations.values()] == ["A", "B"]
