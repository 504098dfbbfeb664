"""deadheat compare across languages: queries that share a pair_id are compared one by one."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import ColumnError, DataError
from support.command import call, facts_of, names_in, ok, report_of
from support.numbers_in_text import numbers_in
from support.report_facts import facts_by_heading

if TYPE_CHECKING:
    from pathlib import Path

LANGUAGES = ("en", "fr", "es")
N = 8


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with judgments, two runs and a table of queries: eight in three languages."""
    rng = np.random.default_rng(2)
    ids = [(f"{language}{n}", language, f"p{n}") for language in LANGUAGES for n in range(N)]
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 a 1\n" for query, _, _ in ids))
    for name in ("one", "two"):
        lines = [f"{query} Q0 {doc} 1 {rng.integers(0, 3)} x\n" for query, _, _ in ids for doc in "abc"]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    rows = [",".join(row) for row in ids]
    (tmp_path / "queries.csv").write_text("\n".join(["query_id,language,pair_id", *rows]) + "\n")
    return tmp_path


@pytest.mark.slow
def test_queries_of_one_pair_id_are_compared_across_languages(folder: Path) -> None:
    command = ["compare", *(str(folder / name) for name in ("qrels.txt", "one.run", "two.run")), "-m", "RR"]
    command += ["--queries", str(folder / "queries.csv"), "--n-resamples", "99", "--margin", "0.2"]
    titles = [table.title for table in report_of(*command).tables]
    assert "queries: the same 8 queries in 3 languages" in titles
    assert any(title.startswith("queries: gaps between ") for title in titles)
    found = json.loads(ok(*command, "--format", "json"))
    runs = {name: dh.read_run(folder / f"{name}.run") for name in ("one", "two")}
    evaluations = {name: dh.evaluate(folder / "qrels.txt", run, "RR") for name, run in runs.items()}
    expected = dh.compare_languages(evaluations, queries=folder / "queries.csv", n_resamples=99)
    (first, *_) = expected.differences
    of_pair = found["language_differences"]["queries"][first.system][first.pair.system][first.pair.baseline]["RR"]
    assert of_pair["difference"] == first.pair.difference
    values = evaluations[first.system].to_dict()
    by_hand = [values[f"{first.pair.system}{n}"]["RR"] - values[f"{first.pair.baseline}{n}"]["RR"] for n in range(N)]
    assert np.isclose(first.pair.difference, np.mean(by_hand), atol=1e-12)
    assert found["across_languages"]["queries"]["one"]["RR"]["n_queries"] == N
    assert "language_differences" not in ok(*command, "--format", "csv")


def test_languages_without_pairs_are_not_compared(folder: Path) -> None:
    path = folder / "queries.csv"
    path.write_text(path.read_text().replace("pair_id", "topic"))
    command = ["compare", *(str(folder / name) for name in ("qrels.txt", "one.run", "two.run")), "-m", "RR"]
    assert "in 3 languages" not in ok(*command, "--queries", str(path), "--n-resamples", "99")
    run = dh.evaluate(folder / "qrels.txt", folder / "one.run", "RR")
    with pytest.raises(ColumnError, match=r"no column 'pair_id'"):
        dh.compare_languages({"one": run}, queries=path)
    path.write_text("query_id,pair_id\nen0,p0\n")
    with pytest.raises(ColumnError, match="no column 'language'"):
        dh.compare_languages({"one": run}, queries=path)


@pytest.mark.slow
def test_queries_without_a_pair_are_named_and_the_others_compared(folder: Path) -> None:
    """A language whose pair ids nobody else has takes nothing from those that are paired."""
    path = folder / "queries.csv"
    plain = path.read_text()
    path.write_text(plain.replace("es0,es,p0", "es0,es,x").replace("es1,es,p1", "es1,es,"))
    command = ["compare", *(str(folder / name) for name in ("qrels.txt", "one.run", "two.run")), "-m", "RR"]
    command += ["--queries", str(path), "--n-resamples", "99"]
    report = report_of(*command)
    assert any("the same 6 queries in 3 lang" in table.title for table in report.tables)
    left_out = facts_by_heading(report)["paired"]
    assert "left out" in left_out
    assert left_out.endswith(": 1 of es")
    assert facts_of(*command, "--full")["not paired"].startswith("1 query of es: ")
    for n in range(N):
        plain = plain.replace(f"es{n},es,p{n}", f"es{n},es,own{n}" if n % 2 else f"es{n},es,")
    path.write_text(plain)
    report = report_of(*command)
    assert any("the same 8 queries in 2 lang" in table.title for table in report.tables)
    not_paired = facts_by_heading(report)["not paired"]
    assert not_paired.startswith("8 queries of es: ")
    page = folder / "page.html"
    ok("report", *command[1:], "-o", str(page))
    assert not_paired in page.read_text()


def test_differences_of_systems_and_of_languages_are_counted_apart(folder: Path) -> None:
    command = ["compare", *(str(folder / name) for name in ("qrels.txt", "one.run", "two.run")), "-m", "RR"]
    command += ["--queries", str(folder / "queries.csv"), "--n-resamples", "99"]
    facts = facts_of(*command, "--full")
    starts = [line.partition(": ")[0] for line in facts["test"].splitlines()]
    assert starts == ["between systems", "between languages"]
    counts = [numbers_in(line)[-1] for line in facts["*"].splitlines()]
    assert counts == [3, 6]


def test_a_pair_that_a_language_has_twice_is_an_error(folder: Path) -> None:
    path = folder / "queries.csv"
    path.write_text(path.read_text().replace("fr1,fr,p1", "fr1,fr,p0"))
    run = dh.evaluate(folder / "qrels.txt", folder / "one.run", "RR")
    with pytest.raises(DataError, match=r"two .* in fr .*'p0'"):
        dh.compare_languages({"one": run}, queries=path)


@pytest.mark.slow
def test_clusters_of_queries_are_joined_over_languages(folder: Path) -> None:
    path = folder / "queries.csv"
    header, *rows = path.read_text().splitlines()
    of_row = [
        f"{row},{'u' if row.startswith('fr') else 'v'}{n // (4 if row.startswith('fr') else 2)}"
        for n, row in enumerate(rows)
    ]
    path.write_text("\n".join([f"{header},user", *of_row]) + "\n")
    command = ["compare", *(str(folder / name) for name in ("qrels.txt", "one.run", "two.run")), "-m", "RR"]
    command += ["--queries", str(path), "--n-resamples", "99", "--cluster", "user"]
    clusters = facts_of(*command, "--full")["clusters"]
    assert "different clusters" in clusters
    assert clusters.endswith("leaves 2 clusters")  # French has two of four queries, the others four of two


@pytest.mark.slow
def test_csv_has_the_table_that_is_named(folder: Path) -> None:
    command = ["compare", *(str(folder / name) for name in ("qrels.txt", "one.run", "two.run")), "-m", "RR"]
    command += ["--queries", str(folder / "queries.csv"), "--n-resamples", "99"]
    rows = list(csv.DictReader(io.StringIO(ok(*command, "--format", "csv", "--table", "language_differences"))))
    found = json.loads(ok(*command, "--format", "json"))["language_differences"]["queries"]
    assert len(rows) == 6
    for row in rows:
        of_pair = found[row["system"]][row["language"]][row["against"]]["RR"]
        assert float(row["p_adjusted"]) == of_pair["p_adjusted"]
    plain = ok(*command, "--format", "csv")
    assert plain == ok(*command, "--format", "csv", "--table", "pairs")
    done = call(*command, "--format", "csv", "--table", "ranks")
    assert (done.exit_code, "across_languages" in done.stderr) == (2, True)
    done = call(*command, "--table", "pairs")
    assert names_in(done.stderr) == ["--table", "--format"]


@pytest.mark.slow
def test_the_page_begins_with_the_languages(folder: Path) -> None:
    page = folder / "page.html"
    names = ("qrels.txt", "one.run", "two.run")
    shared = [*(str(folder / name) for name in names), "-m", "RR", "--queries", str(folder / "queries.csv")]
    ok("report", *shared, "--n-resamples", "99", "--margin", "0.2", "-o", str(page))
    text = page.read_text()
    assert text.index("the same 8 queries in 3 lang") < text.index('id="s0-verdict"')
    assert "queries: differences between " in text
    assert "p within 0.2" in text
    first = json.loads(ok("compare", *shared, "--n-resamples", "99", "--margin", "0.2", "--format", "json"))
    for sentence in first["language_verdicts"]["queries"]:
        assert sentence in text
