"""Averages across languages: which cases they stand on, and which language is lowest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat.errors import ParameterError
from deadheat.plugins.bench.cases import Case, Cases
from support.case_files import write_cases
from support.small_bench import CASES, DOCUMENTS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_a_case_of_several_sets_counts_once_across_languages() -> None:
    first = Cases("small", {}, CASES.cases[:2])  # English: bm25 finds both at once
    none = Cases("plain", {}, (Case("p", "pain", ("D2",), (1.0,)),))
    alone = dh.bench(CASES, DOCUMENTS, "bm25", measures="RR", n_resamples=99).averages()
    result = dh.bench([CASES, first, none], DOCUMENTS, "bm25", measures="RR", n_resamples=99)
    assert alone.drop("pooled").equals(result.averages().drop("pooled"))
    assert alone["pooled"].to_list() == ["de: 3 cases, en: 4 cases"]
    assert result.averages()["pooled"].to_list() == ["de: 3 cases, en: 4 cases of 2 sets"]
    title = "Across 2 languages (de: 3 cases, en: 4 cases of 2 sets; without plain, of no language)"
    assert title in result.report()
    assert "plain: 1 case\n" in result.report()
    other = Cases("small", {}, (Case("e1", "sleep pain", ("D4", "D2"), (1.0, 1.0), language="en"),))
    both = dh.bench([CASES, other], DOCUMENTS, "bm25", n_resamples=99).averages()
    assert set(both["pooled"]) == {"de: 3 cases, en: 5 cases of 2 sets"}


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for folder in ("north", "south", "german", "english"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tiny.csv").write_text("text,expected_ids\nfever,D1\n")
    paths = [tmp_path / folder / "tiny.csv" for folder in ("north", "south")]
    result = dh.bench(paths, DOCUMENTS, "bm25", "RR", n_resamples=99)
    assert [name for name, _ in result.parts] == ["north/tiny", "south/tiny"]
    languages = [tmp_path / folder / "tiny.csv" for folder in ("german", "english")]
    found = dh.bench(languages, DOCUMENTS, "bm25", "RR", n_resamples=99)
    assert list(found.parts) == [("tiny", "de"), ("tiny", "en")]
    assert "as the folder german says" in " ".join(found.report().split())
    with pytest.raises(ParameterError, match=r"two .* named 'tiny'.* dict"):
        dh.bench([*paths, paths[0]], DOCUMENTS)


def test_sets_that_call_themselves_the_same_are_told_apart_by_their_files(tmp_path: Path) -> None:
    paths = [tmp_path / "one.json", tmp_path / "two.json"]
    for path in paths:
        write_cases(path, Cases("mine", {}, (Case("a", "fever", ("D1",), (1.0,)),)))
    assert [name for name, _ in dh.bench(paths, DOCUMENTS, "bm25", "RR").parts] == ["mine, one", "mine, two"]


def test_equal_means_have_no_lowest_language() -> None:
    found = [{"D1": 1.0, "D2": 0.5, "D4": 0.2}]
    result = dh.bench(CASES, DOCUMENTS, lambda texts, _: found * len(texts), measures="Hit@10", n_resamples=99)
    (row,) = result.averages().to_dicts()
    assert (row["mean"], row["lowest"], row["highest"]) == (1.0, None, None)
