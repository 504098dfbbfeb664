"""--figures: which files a command draws, and what it says of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.command import call, names_in, ok
from support.demo import BENCH, DEMO
from support.shared_data import LLM_RUNS, llm_qrels, llm_run, needs_shared_data

QUICK = ["--n-resamples", "200"]
QRELS, RUNS = str(DEMO / "qrels.human.txt.gz"), [str(path) for path in sorted(DEMO.glob("*.run.gz"))]


def data_of(path: Path) -> list[dict[str, Any]]:
    spec = json.loads(path.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = spec["datasets"][spec["data"]["name"]]
    return found


def drawn(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.slow
def test_evaluate_draws_and_names_its_files(tmp_path: Path) -> None:
    text = ok("evaluate", QRELS, *RUNS[:2], "-m", "RR", "--figures", tmp_path / "new" / "f")
    assert drawn(tmp_path / "new" / "f") == {"forest-RR.svg", "traditional-RR.svg"}
    assert "forest-RR.svg" in text
    assert "not drawn" not in text


@pytest.mark.slow
def test_data_have_the_files_and_what_was_not_drawn(tmp_path: Path) -> None:
    arguments = ["evaluate", QRELS, RUNS[0], "-m", "RR", "--figures", tmp_path, "--figure-format", "json"]
    result = call(*arguments, "--figure", "all", "--format", "json")
    found = json.loads(result.stdout)
    assert found["figures"] == [
        str(tmp_path / f"{name}.json") for name in ("forest-RR", "cutoffs-nDCG", "cutoffs-R", "traditional-RR")
    ]
    assert {name for names in found["not_drawn"].values() for name in names} >= {"precision_recall"}


@pytest.mark.slow
def test_the_numbers_of_figures_are_those_of_json(tmp_path: Path) -> None:
    arguments = ["compare", QRELS, *RUNS, "-m", "nDCG@10", *QUICK, "--figures", tmp_path, "--figure-format", "json"]
    arguments += ["--figure", "forest", "--figure", "matrix"]
    found = json.loads(ok(*arguments, "--format", "json"))
    assert drawn(tmp_path) == {"forest-nDCG@10.json", "matrix-nDCG@10.json"}
    by_system = {row["system"]: row for row in data_of(tmp_path / "forest-nDCG@10.json")}
    for system, of_measures in found["systems"].items():
        for key, number in of_measures["nDCG@10"].items():
            assert by_system[system].get(key, number) == number, key
    cells = data_of(tmp_path / "matrix-nDCG@10.json")
    pairs = [(one, other, own["nDCG@10"]) for one, of in found["pairs"].items() for other, own in of.items()]
    for system, baseline, pair in pairs:
        (cell,) = (one for one in cells if (one["system"], one["against"]) == (system, baseline))
        for key in ("difference", "p_adjusted", "significant", "flip_probability"):
            assert cell[key] == pair[key]
        rule = by_system[system]["by_doc_id"] - by_system[baseline]["by_doc_id"]
        assert rule == pytest.approx(pair["doc_id_difference"], abs=1e-12)
    assert len(pairs) == 6


JSON = ["--figure-format", "json"]
DEFAULTS = {
    "evaluate": ["evaluate", QRELS, *RUNS],
    "compare": ["compare", QRELS, *RUNS, *QUICK],
    "ties": ["ties", RUNS[0], QRELS],
    "judges": ["judges", QRELS, RUNS[0], "--run", RUNS[1], "--run", RUNS[2], *QUICK],
    "simulate": ["simulate", "--scenarios", "20"],
    "bench": [*BENCH, "--retriever", "bm25", "--retriever", "bm25(k1=1.9)"],
}


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted(DEFAULTS))
def test_at_most_three_figures_are_drawn_by_default_of_the_first_measure(command: str, tmp_path: Path) -> None:
    ok(*DEFAULTS[command], "--figures", tmp_path, *JSON)
    names = [path.stem for path in tmp_path.iterdir()]
    assert 1 <= len(names) <= 3
    assert len({name.partition("-")[2] for name in names if "-" in name}) <= 1 or command in {"judges", "bench"}


def test_of_one_query_nothing_is_drawn_by_default(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("q1 0 a 1\n")
    for name in ("one", "two"):
        (tmp_path / f"{name}.run").write_text("q1 Q0 a 1 1 t\nq1 Q0 b 2 1 t\n")
    files = [tmp_path / "q", tmp_path / "one.run", tmp_path / "two.run", "-m", "RR"]
    for command in ("compare", "evaluate"):
        text = " ".join(ok(command, *files, "--figures", tmp_path / "f", *JSON).split())
        assert "figures none: of one query " in text
        assert drawn(tmp_path / "f") == set()
    ok("compare", *files, "--figures", tmp_path / "f", "--figure", "forest", *JSON)
    assert drawn(tmp_path / "f") == {"forest-RR.json"}


@pytest.mark.slow
def test_figures_are_drawn_by_name_of_each_measure(tmp_path: Path) -> None:
    options = ["-m", "RR", "-m", "Hit@3", *QUICK, "--figure", "scatter", "--figure", "scatter", "--figure", "strata"]
    text = " ".join(ok("compare", QRELS, *RUNS[:2], *options, "--figures", tmp_path, *JSON).split())
    assert drawn(tmp_path) == {"scatter-RR.json", "scatter-Hit@3.json"}
    assert "not drawn strata: " in text
    assert "--by" in text


def test_a_matrix_of_two_systems_is_not_drawn_and_said(tmp_path: Path) -> None:
    options = ["-m", "RR", *QUICK, "--figure", "matrix", "--figure", "ranks"]
    text = " ".join(ok("compare", QRELS, *RUNS[:2], *options, "--figures", tmp_path).split())
    assert drawn(tmp_path) == set()
    assert "figures none" in text
    assert "ranks-RR, matrix-RR: " in text
    assert "not drawn of two systems" in text


@pytest.mark.parametrize(
    ("command", "given", "first"),
    [
        (["compare", QRELS, *RUNS[:2]], "scater", "scatter"),
        (["evaluate", QRELS, RUNS[0]], "Forrest", "forest"),
        (["ties", RUNS[0], QRELS], "ratio", "tie_ratio"),
        (["leaderboard", "none"], "heatmap", "heat_map"),
    ],
)
def test_an_unknown_figure_lists_those_of_the_command(
    command: list[str], given: str, first: str, tmp_path: Path
) -> None:
    result = call(*command, "--figures", tmp_path / "f", "--figure", given)
    assert result.exit_code == 2
    text = " ".join(result.output.split())
    assert f"there is no figure '{given}' here: give {first}, " in text
    assert text.endswith(", or all")
    assert ("scatter" in text) == (command[0] == "compare")
    assert not (tmp_path / "f").exists()


def test_a_figure_by_name_needs_a_folder() -> None:
    result = call("evaluate", QRELS, RUNS[0], "--figure", "forest")
    assert result.exit_code == 2
    assert names_in(result.output) == ["--figure", "--figures"]


@pytest.mark.slow
def test_strata_are_drawn(tmp_path: Path) -> None:
    queries = tmp_path / "queries.csv"
    evaluated = json.loads(ok("evaluate", QRELS, RUNS[0], "-m", "RR", "--per-query", "--format", "json"))
    ids = sorted(next(iter(evaluated["per_query"].values())))
    queries.write_text(
        "query_id,level\n" + "".join(f"{one},{'easy' if n % 2 else 'hard'}\n" for n, one in enumerate(ids))
    )
    options = ["-m", "RR", "--queries", queries, "--by", "level"]
    ok("evaluate", QRELS, *RUNS[:2], *options, "--figures", tmp_path / "one")
    ok("compare", QRELS, *RUNS[:2], *options, *QUICK, "--figures", tmp_path / "two")
    assert "strata-RR.svg" in drawn(tmp_path / "one") & drawn(tmp_path / "two")


@pytest.mark.slow
def test_ties_are_drawn_as_data_say(tmp_path: Path) -> None:
    options = ["-m", "RR", "-m", "Hit@3", "--figures", tmp_path / "f", "--figure-format", "json"]
    found = json.loads(ok("ties", RUNS[0], QRELS, *options, "--figure", "all", "--format", "json"))
    names = {
        f"{name}-{of}.json"
        for name in ("tie_ratio", "largest_tie", "tie_histogram", "traditional")
        for of in ("RR", "Hit@3")
    }
    names |= {"tie_correlation.json", "mean_tie_ratio.json", "overview.json"}
    assert drawn(tmp_path / "f") == names == {Path(path).name for path in found["figures"]}
    (run,) = data_of(tmp_path / "f" / "traditional-RR.json")[:1]
    by_id = json.loads(ok("evaluate", QRELS, RUNS[0], "-m", "RR", "--ties", "doc_id", "--format", "json"))["scores"]
    assert run["traditional"] == pytest.approx(next(iter(by_id.values()))["RR"]["value"], abs=1e-12)


def test_ties_without_judgments_are_a_sentence(tmp_path: Path) -> None:
    text = " ".join(ok("ties", RUNS[0], "--figures", tmp_path / "f").split())
    assert "nothing is known of what the ties of" in text
    assert drawn(tmp_path / "f") == set()


def test_the_value_of_trec_eval_is_a_tick_and_not_a_column(tmp_path: Path) -> None:
    text = ok("evaluate", QRELS, RUNS[0], "-m", "RR", "--figures", tmp_path, "--figure-format", "json")
    by_id = json.loads(ok("evaluate", QRELS, RUNS[0], "-m", "RR", "--ties", "doc_id", "--format", "json"))["scores"]
    (row,) = data_of(tmp_path / "forest-RR.json")
    assert row["by_doc_id"] == next(iter(by_id.values()))["RR"]["value"]
    plain = ok("evaluate", QRELS, RUNS[0], "-m", "RR")
    assert plain.splitlines()[:3] == text.splitlines()[:3]


@pytest.mark.slow
def test_a_bench_draws_each_language(tmp_path: Path) -> None:
    text = ok(*BENCH, "--retriever", "bm25", "--retriever", "bm25(k1=1.9)", "--figures", tmp_path)
    names = drawn(tmp_path)
    assert any(name.endswith("forest-RR.svg") for name in names)
    assert any(name.endswith("differences-RR.svg") for name in names)
    assert len(names) <= 3
    assert "figures" in text


def test_a_folder_that_is_a_file_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    for command in (["evaluate", "none", "none"], ["compare", "none", "none", "none"]):
        result = call(*command, "--figures", tmp_path / "f")
        assert result.exit_code == 2
        assert "is not a writable folder" in result.output


def test_one_query_and_nothing_relevant_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("q1 0 a 0\n")
    for name in ("one", "two"):
        (tmp_path / f"{name}.run").write_text("q1 Q0 a 1 1 t\nq1 Q0 b 2 1 t\n")
    arguments = ["compare", tmp_path / "q", tmp_path / "one.run", tmp_path / "two.run", "--no-relevant", "skip"]
    result = call(*arguments, "-m", "RR", "--figures", tmp_path / "f")
    assert result.exit_code == 0, result.output
    assert "Traceback" not in result.output
    assert "no system has a value of RR" in " ".join(result.output.split())
    assert drawn(tmp_path / "f") == set()


LOADED = """
import sys
from deadheat.core.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(*sys.modules)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [["--help"], ["evaluate", "--help"], ["evaluate", QRELS, RUNS[0]], ["compare", QRELS, *RUNS[:2], *QUICK]]
)
def test_without_figures_nothing_is_loaded_that_draws(command: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", LOADED, *command], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "deadheat.core.cli" in loaded
    assert not {"altair", "vl_convert", "deadheat.figures"} & loaded


@needs_shared_data
@pytest.mark.slow
def test_twelve_runs_are_drawn_in_files_of_a_moderate_size(tmp_path: Path) -> None:
    ok("compare", llm_qrels(), *map(llm_run, LLM_RUNS), "-m", "nDCG@10", "--figures", tmp_path, "--figure", "all")
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert len(sizes) >= 8
    assert max(sizes.values()) < 250_000
