"""deadheat compare: what it says beside its numbers, and the options that intervals and tests share."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from deadheat.core.cli import main
from support.command import call, command as command_of, ok

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


def words(*arguments: object) -> str:
    return " ".join(ok(*COMPARE, "-m", "RR", "--full", *arguments).split())


@pytest.mark.slow
@pytest.mark.parametrize("form", ["table", "csv"])
def test_a_run_without_a_judged_document_gets_a_warning(form: str) -> None:
    result = call(*COMPARE, "alien.run", "-m", "RR", "--format", form)
    assert result.exit_code == 0
    warning = "Warning: no document that alien retrieves is judged: are the document ids written alike?\n"
    note = "Note: nothing relevant: 1 query (q39), count as 0\n" if form == "csv" else ""
    assert result.stderr == warning + note
    assert call(*COMPARE, "-m", "RR").stderr == ""


def test_how_the_runs_were_evaluated_is_said() -> None:
    out = words()
    assert "scores compared as float64, not rounded" in out
    assert "nothing relevant 1 query (q39), count as 0" in out
    options = ("--score-precision", "3", "--no-relevant", "skip", "--missing", "skip")
    out = words(*options)
    assert "scores rounded to 3 decimals first" in out
    assert "nothing relevant 1 query (q39), left out" in out
    held = document(*options)
    assert (held["missing"], held["no_relevant"], held["score_precision"]) == ("skip", "skip", 3)
    held = document()
    assert (held["missing"], held["no_relevant"], held["score_precision"]) == ("empty", "zero", None)
    assert held["queries_without_relevant"] == {"RR": ["q39"]}


def test_the_seed_of_what_was_drawn_is_said() -> None:
    out = words("--ties", "random", "--rng", "7")
    assert "random: one order of every tie, drawn at random (rng 7)" in out
    assert "intervals means: Gaffke's bounds; others: Student's t over queries, not" in out
    assert document("--ties", "random", "--rng", "7")["rng"] == 7
    out = words("--rng", "7", "--test", "t", "--ci-method", "t")
    intervals = "intervals Student's t over queries, not corrected"
    assert f"expected: the exact mean over all orders of equal scores {intervals} test" in out


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
    shown = " ".join(ok(command, "--help-all").split())
    assert "Level of the intervals; 1 - LEVEL is the level of significance of tests. Default: 0.95." in shown
    assert "Resamples of bootstraps and tests, 99 or more; if it is not given, more sign flips are drawn" in shown


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_ties_are_one_option(command: str) -> None:
    one, of_evaluate = (
        next(option for option in command_of(name).params if option.name == "ties") for name in (command, "evaluate")
    )
    settings: Any = main.context_settings  # click keeps the names of --help from the first context
    context = command_of(command).make_context(command, ["a", "b", "c"], resilient_parsing=True, **settings)
    assert [found.value for found in one.shell_complete(context, "be")] == ["best"]
    assert one.to_info_dict() == of_evaluate.to_info_dict()


def test_small_strata_are_named() -> None:
    options = ("--by", "half", "--queries", "queries.csv")
    assert document(*options)["small"] == ["early"]
    out = words(*options)
    assert "strata 2 from queries.csv small fewer than 10 queries: early (5)" in out
    assert "small" not in document()


def test_of_many_small_strata_three_are_named(folder: Path) -> None:
    rows = [f"q{number:02},s{number % 5}\n" for number in range(N_QUERIES)]
    (folder / "fifths.csv").write_text("query_id,fifth\n" + "".join(rows))
    out = words("--by", "fifth", "--queries", "fifths.csv")
    assert "fewer than 10 queries: s0 (8); s1 (8); s2 (8) and 2 more" in out


def test_a_table_of_other_queries_is_an_error_without_strata_too(folder: Path) -> None:
    (folder / "other.csv").write_text("query_id,language\nzz,en\n")
    result = call(*COMPARE, "--queries", "other.csv")
    assert result.exit_code == 3
    assert "other.csv has none of the evaluated queries, such as 'q00'" in result.stderr


def test_bars_of_strata_can_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    out = ok(*COMPARE, "-m", "RR", "--by", "half", "--queries", "queries.csv", "--full")
    rows = [line for line in out.split("RR: differences")[0].splitlines() if "●" in line]
    places = {float(found[1]): line.index("●") for line in rows if (found := re.search(r" (0\.\d{4})  \[", line))}
    assert len(places) == 4
    assert [places[mean] for mean in sorted(places)] == sorted(places.values())


def test_a_table_for_programs_has_no_two_columns_of_one_name() -> None:
    options = ("--by", "system", "--queries", "queries.csv", "-m", "RR")
    result = call(*COMPARE, *options, "--format", "csv")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "two columns would be named 'system': give the stratum column another name" in result.stderr
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


def said(*arguments: str) -> str:
    return " ".join(ok("compare", "few.txt", "before.run", "after.run", "-m", "RR", "--full", *arguments).split())


def test_two_queries_show_no_equivalence(folder: Path) -> None:
    runs_of_ranks(folder, (1, 1), (2, 2))
    out = said("--margin", "0.1")
    assert "<.0001 <.0001 queries 2 in" in out  # no star
    assert "margin fewer than 5 queries prove nothing: 1 of 1 pair, after / before (RR)" in out
    runs_of_ranks(folder, *[(1, 2)] * 6)
    assert "margin one difference in all queries does not say how others vary: 1 of 1 pair" in said("--margin", "0.6")
    runs_of_ranks(folder, *[(2, 1), (1, 2)] * 6)
    out = said("--margin", "0.6")
    assert not re.search("margin (fewer|one|too)", out)


def test_a_margin_is_in_doubt_where_few_queries_lose_much(folder: Path) -> None:
    runs_of_ranks(folder, *[(1, 1)] * 99, (1, 4))  # the test of the difference allows for more skewness than t
    out = said("--margin", "0.05", "--test", "sign")
    assert "margin too skewed for so few queries, a t test rules out rare large differences too easily: 1 of 1" in out


def test_a_bootstrap_test_of_few_queries_is_in_doubt(folder: Path) -> None:
    # With two queries it finds every difference of two of one sign: half of all pairs that are equally good.
    runs_of_ranks(folder, (1, 2), (1, 3))
    out = said("--test", "bootstrap")
    assert "<=.0001*" in out
    assert (
        "few 1 of 1 difference significant with fewer than 25 queries, which are too few for this test; the test t is"
        " nearer to its level: after / before (RR)" in out
    )
    runs_of_ranks(folder, *[(1, 2), (1, 3)] * 13)
    assert " few " not in said("--test", "bootstrap")
    runs_of_ranks(folder, *[(1, 3)] * 3, (1, 2))
    assert "1 of 1 difference significant with fewer than 5 queries, which prove little" in said("--test", "t")


def test_skewed_differences_are_named_with_their_stratum(folder: Path) -> None:
    runs_of_ranks(folder, *[(1, 2), (2, 1)] * 5, *[(3, 3)] * 9, (1, 4))
    out = said("--queries", "few.csv", "--by", "part")
    assert "1 of 2 differences too skewed" in out
    assert "(RR; p1: -3.2)" in out
