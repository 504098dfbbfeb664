"""deadheat compare: what it says beside its numbers, and the options that intervals and tests share."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from deadheat.core.cli import main
from support.command import call, command as command_of, facts_of, names_in, ok
from support.numbers_in_text import numbers_in

if TYPE_CHECKING:
    from pathlib import Path

N_QUERIES = 40  # more differences than a randomisation test counts out
COMPARE = ("compare", "qrels.txt", "good.run", "poor.run")
RESAMPLED = ("--n-resamples", "99", "--ci-method", "t")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Forty queries, the last without a relevant document; one run has it first or second, the other below."""
    queries = [f"q{number:02}" for number in range(N_QUERIES)]
    relevant = dict.fromkeys(queries, 1) | {"q39": 0}
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 a {relevant[query]}\n" for query in queries))
    for name, ranks, doc in (("good", (1, 2), "a"), ("poor", (2, 1, 3, 4), "a"), ("alien", (1,), "A.0")):
        lines = []
        for number, query in enumerate(queries):
            scores = {"x": 8, "y": 7, "z": 6, doc: 9.5 - ranks[number % len(ranks)]}
            lines += [f"{query} Q0 {one} 1 {score} t\n" for one, score in scores.items()]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    rows = [f"{query},{'early' if query < 'q05' else 'late'},s{query[2]}\n" for query in queries]
    (tmp_path / "queries.csv").write_text("query_id,half,system\n" + "".join(rows))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def document(*arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ok(*COMPARE, "-m", "RR", *arguments, "--format", "json"))
    return found


def facts(*arguments: object) -> dict[str, str]:
    return facts_of(*COMPARE, "-m", "RR", "--full", *arguments)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["table", "csv"])
def test_a_run_without_a_judged_document_gets_a_warning(form: str) -> None:
    result = call(*COMPARE, "alien.run", "-m", "RR", "--format", form)
    assert result.exit_code == 0
    warning, *notes = result.stderr.splitlines()
    assert warning.startswith("Warning: ")
    assert " alien retrieves is judged" in warning
    assert [note.partition(" (q39)")[0] for note in notes] == ["Note: nothing relevant: 1 query"] * (form == "csv")
    assert call(*COMPARE, "-m", "RR").stderr == ""


def test_how_the_runs_were_evaluated_is_said() -> None:
    said = facts()
    assert said["scores"].endswith(", not rounded")
    assert said["nothing relevant"] == "1 query (q39), count as 0"
    options = ("--score-precision", "3", "--no-relevant", "skip", "--missing", "skip")
    said = facts(*options)
    assert said["scores"].startswith("rounded to 3 decimals")
    assert said["nothing relevant"] == "1 query (q39), left out"
    held = document(*options)
    assert (held["missing"], held["no_relevant"], held["score_precision"]) == ("skip", "skip", 3)
    held = document()
    assert (held["missing"], held["no_relevant"], held["score_precision"]) == ("empty", "zero", None)
    assert held["queries_without_relevant"] == {"RR": ["q39"]}


def test_the_seed_of_what_was_drawn_is_said() -> None:
    said = facts("--ties", "random", "--rng", "7")
    assert said["ties"].startswith("random: ")
    assert said["ties"].endswith(" (rng 7)")
    assert said["intervals"].startswith("means: Gaffke's bounds; ")
    assert document("--ties", "random", "--rng", "7")["rng"] == 7
    said = facts("--rng", "7", "--test", "t", "--ci-method", "t")
    assert said["ties"].startswith("expected: ")
    assert said["intervals"].startswith("Student's t over queries, ")
    assert not any("rng" in said[heading] for heading in ("ties", "intervals", "test"))


@pytest.mark.parametrize("test", ["randomization", "bootstrap", "tukey"])
def test_resamples_are_of_the_test_too(test: str) -> None:
    held = document("--test", test, *RESAMPLED)
    assert (held["n_resamples"], held["method"]) == (99, "t")
    p_value = held["pairs"]["poor"]["good"]["RR"]["p_value"]
    assert (p_value * 100) == pytest.approx(round(p_value * 100))  # (b + 1) / (m + 1)


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
def test_resamples_that_nothing_takes_are_refused(test: str) -> None:
    result = call(*COMPARE, "--test", test, *RESAMPLED)
    assert result.exit_code == 2
    assert "which takes no resamples" in result.stderr


def test_resamples_are_of_the_test_in_bench_too() -> None:
    arguments = ("bench", "nothing.csv", "--collection", "nothing.csv", *RESAMPLED)
    assert "no such file" in call(*arguments).stderr
    assert "which takes no resamples" in call(*arguments, "--test", "sign").stderr


@pytest.mark.parametrize("command", ["compare", "bench"])
def test_help_says_what_levels_and_resamples_are_of(command: str) -> None:
    helps = {option.name: getattr(option, "help", "") for option in command_of(command).params}
    assert "1 - LEVEL" in helps["confidence_level"]
    assert {"bootstraps", "tests", "99"} <= set(re.findall(r"\w+", helps["n_resamples"]))
    shown = " ".join(ok(command, "--help-all").split())
    assert helps["n_resamples"].partition(";")[0] in shown


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_ties_are_one_option(command: str) -> None:
    one, of_evaluate = (
        next(option for option in command_of(name).params if option.name == "ties") for name in (command, "evaluate")
    )
    settings: Any = main.context_settings  # click keeps the names of --help from the first context
    context = command_of(command).make_context(command, ["a", "b", "c"], resilient_parsing=True, **settings)
    assert [found.value for found in one.shell_complete(context, "be")] == ["best"]
    assert one.to_info_dict() == of_evaluate.to_info_dict()


@pytest.mark.slow
def test_small_strata_are_named() -> None:
    options = ("--by", "half", "--queries", "queries.csv")
    assert document(*options)["small"] == ["early"]
    said = facts(*options)
    assert said["strata"] == "2 from queries.csv"
    assert numbers_in(said["small"])[:1] == [10]
    assert said["small"].endswith(": early (5)")
    assert "small" not in document()


def test_of_many_small_strata_three_are_named(folder: Path) -> None:
    rows = [f"q{number:02},s{number % 5}\n" for number in range(N_QUERIES)]
    (folder / "fifths.csv").write_text("query_id,fifth\n" + "".join(rows))
    small = facts("--by", "fifth", "--queries", "fifths.csv")["small"]
    assert small.endswith(": s0 (8); s1 (8); s2 (8) and 2 more")


def test_a_table_of_other_queries_is_an_error_without_strata_too(folder: Path) -> None:
    (folder / "other.csv").write_text("query_id,language\nzz,en\n")
    result = call(*COMPARE, "--queries", "other.csv")
    assert result.exit_code == 3
    assert "other.csv" in result.stderr
    assert names_in(result.stderr)[0] == "q00"


def test_bars_of_strata_can_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    out = ok(*COMPARE, "-m", "RR", "--by", "half", "--queries", "queries.csv", "--full")
    rows = [line for line in out.split("RR: differences")[0].splitlines() if "●" in line]
    places = {float(found[1]): line.index("●") for line in rows if (found := re.search(r" (0\.\d{4})  \[", line))}
    assert len(places) == 4
    assert [places[mean] for mean in sorted(places)] == sorted(places.values())


@pytest.mark.slow
def test_a_table_for_programs_has_no_two_columns_of_one_name() -> None:
    options = ("--by", "system", "--queries", "queries.csv", "-m", "RR")
    result = call(*COMPARE, *options, "--format", "csv")
    assert (result.exit_code, result.stdout) == (3, "")
    assert names_in(result.stderr) == ["system"]
    assert set(json.loads(ok(*COMPARE, *options, "--format", "json"))["pairs"]) == {f"s{digit}" for digit in range(10)}


def runs_of_ranks(folder: Path, *ranks: tuple[int, int]) -> None:
    """Write two runs, `before` and `after`, with the relevant documents at these ranks."""
    for place, name in enumerate(("before", "after")):
        lines = [
            f"q{n:03} Q0 {'a' if rank == both[place] else f'x{rank}'} {rank} {9 - rank} t\n"
            for n, both in enumerate(ranks)
            for rank in range(1, 5)
        ]
        (folder / f"{name}.run").write_text("".join(lines))
    (folder / "few.txt").write_text("".join(f"q{n:03} 0 a 1\n" for n in range(len(ranks))))
    (folder / "few.csv").write_text("query_id,part\n" + "".join(f"q{n:03},p{n // 10}\n" for n in range(len(ranks))))


FEW = ("compare", "few.txt", "before.run", "after.run", "-m", "RR", "--full")


def test_two_queries_show_no_equivalence(folder: Path) -> None:
    runs_of_ranks(folder, (1, 1), (2, 2))
    assert re.search(r"<\.0001 +<\.0001 *\n", ok(*FEW, "--margin", "0.1"))  # no star
    margin = facts_of(*FEW, "--margin", "0.1")["margin"]
    assert numbers_in(margin) == [5, 1, 1]
    assert margin.endswith(", after / before (RR)")
    runs_of_ranks(folder, *[(1, 2)] * 6)
    assert facts_of(*FEW, "--margin", "0.6")["margin"].startswith("one difference in all ")
    runs_of_ranks(folder, *[(2, 1), (1, 2)] * 6)
    assert "margin" not in facts_of(*FEW, "--margin", "0.6")


def test_a_margin_is_in_doubt_where_few_queries_lose_much(folder: Path) -> None:
    runs_of_ranks(folder, *[(1, 1)] * 99, (1, 4))  # the test of the difference allows for more skewness than t
    margin = facts_of(*FEW, "--margin", "0.05", "--test", "sign")["margin"]
    assert margin.startswith("too skewed ")
    assert numbers_in(margin) == [1, 1]


def test_a_bootstrap_test_of_few_queries_is_in_doubt(folder: Path) -> None:
    # With two queries it finds every difference of two of one sign: half of all pairs that are equally good.
    runs_of_ranks(folder, (1, 2), (1, 3))
    assert "<=.0001*" in ok(*FEW, "--test", "bootstrap")
    few = facts_of(*FEW, "--test", "bootstrap")["few"]
    assert numbers_in(few) == [1, 1, 25]
    assert "the test t" in few
    assert few.endswith(": after / before (RR)")
    runs_of_ranks(folder, *[(1, 2), (1, 3)] * 13)
    assert "few" not in facts_of(*FEW, "--test", "bootstrap")
    runs_of_ranks(folder, *[(1, 3)] * 3, (1, 2))
    assert numbers_in(facts_of(*FEW, "--test", "t")["few"])[:3] == [1, 1, 5]


def test_skewed_differences_are_named_with_their_stratum(folder: Path) -> None:
    runs_of_ranks(folder, *[(1, 2), (2, 1)] * 5, *[(3, 3)] * 9, (1, 4))
    skewed = facts_of(*FEW, "--queries", "few.csv", "--by", "part")["skewed"]
    assert numbers_in(skewed)[:2] == [1, 2]
    assert "(RR; p1: -3.2)" in skewed
