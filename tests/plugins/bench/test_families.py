"""Parallel sets in a benchmark: languages are compared case by case where cases say that they belong together."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy

import deadheat as dh
from deadheat.errors import CasesError, NoteWarning, ParameterError
from deadheat.plugins.bench.case_groups import split_into_parts
from deadheat.plugins.bench.cases import Case, Cases, read_cases
from deadheat.plugins.bench.families import describe_unpaired, find_families
from deadheat.plugins.bench.report import report_bench
from deadheat.plugins.bench.result import Key
from support.case_files import write_cases
from support.command import ok
from support.numbers_in_text import numbers_in
from support.report_facts import facts_by_heading
from support.small_bench import CASES, DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from deadheat import Collection

TERMS = [f"D{n}" for n in range(1, 5)]


def cases_in(language: str, *, name: str = "set", n: int = 12, start: int = 0) -> Cases:
    """Cases whose text is a number, in a language; each expects one of the documents."""
    made = tuple(
        Case(f"{language}{k}", f"{language} {k}", (TERMS[k % 4],), (1.0,), language=language, pair_id=f"p{k:02d}")
        for k in range(start, n)
    )
    return Cases(name, {}, made)


def sets_of(*languages: str) -> list[Cases]:
    """Sets of the same cases."""
    return [cases_in(language) for language in languages]


def skilled(name: str, **levels: int) -> object:
    """A retriever whose scores have so many levels in a language: few of them tie."""

    class Skilled:
        def __init__(self) -> None:
            self.name = name

        def index(self, documents: Collection) -> None:
            pass

        def search(self, texts: Sequence[str], k: int) -> list[dict[str, float]]:  # noqa: ARG002 - as every retriever
            found = []
            for text in texts:
                language, _, number = text.partition(" ")
                scores = [(int(number) * (place + 3)) % levels[language] for place in range(4)]
                found.append(dict(zip(TERMS, map(float, scores), strict=True)))
            return found

    return Skilled()


RETRIEVERS = [skilled("one", en=5, fr=3, es=2), skilled("two", en=3, fr=4, es=5)]


@pytest.mark.slow
def test_parts_of_one_name_are_compared_case_by_case() -> None:
    sets = [cases_in(language) for language in ("en", "fr", "es")]
    result = dh.bench(sets, DOCUMENTS, RETRIEVERS, ["RR", "Hit@1"], test="t", n_resamples=99, margin=0.3)
    (found,) = result.across.values()
    assert list(result.across) == ["set"]
    for one in found.differences:
        values = [
            result.evaluations[Key("set", language, one.system)].to_dict()
            for language in (one.pair.system, one.pair.baseline)
        ]
        of_pair = [
            {str(case.pair_id): own[case.case_id][one.pair.measure] for case in cases_in(language)}
            for language, own in zip((one.pair.system, one.pair.baseline), values, strict=True)
        ]
        first, second = (np.array([own[pair] for pair in sorted(of_pair[0])]) for own in of_pair)
        assert np.isclose(one.pair.difference, (first - second).mean(), atol=1e-12)
        assert np.isclose(one.pair.p_value, scipy.stats.ttest_rel(first, second).pvalue, rtol=1e-9)
    titles = [table.title for table in report_bench(result).tables]
    assert titles.count("set: the same 12 cases in 3 languages") == 1
    for start in ("set: differences between lang", "set: gaps between languages, "):
        assert sum(title.startswith(start) for title in titles) == 1
    assert "p within 0.3" in result.report()
    assert not any(title.startswith("Across 3 languages") for title in titles)  # the same means
    assert facts_by_heading(report_bench(result))["paired"] == "set: 12 cases in each of en, fr, es"


def test_one_file_of_several_languages_and_files_of_other_names_are_paired_too() -> None:
    both = Cases("mixed", {}, (*cases_in("en").cases, *cases_in("fr").cases))
    assert list(dh.bench(both, DOCUMENTS, RETRIEVERS[0], "RR", n_resamples=99).across) == ["mixed"]
    sets = [cases_in("en", name="english"), cases_in("fr", name="french")]
    assert list(dh.bench(sets, DOCUMENTS, RETRIEVERS[0], "RR", n_resamples=99).across) == ["english and french"]


def test_languages_that_are_not_parallel_are_never_paired() -> None:
    alike = [replace(one, pair_id=None, case_id="a") for one in (CASES.cases[0], CASES.cases[4])]
    sets = [Cases("de", {}, (alike[1],)), Cases("en", {}, (alike[0],))]
    result = dh.bench(sets, DOCUMENTS, "bm25", "RR", n_resamples=99)
    assert not result.across
    not_parallel = describe_unpaired(split_into_parts(sets, None), ())
    assert not_parallel.startswith("de (de), en (en): not paired")
    assert "pair_id" in not_parallel
    assert facts_by_heading(report_bench(result))["not parallel"] == not_parallel
    others = [cases_in("en", n=6), cases_in("fr", start=6)]
    parts = split_into_parts(others, None)
    assert find_families(parts) == ()
    assert describe_unpaired(parts, ()).startswith("set (en), set (fr):")
    twice = [cases_in("en", name="a"), cases_in("en", name="b"), cases_in("fr", name="c")]
    assert find_families(split_into_parts(twice, None)) == ()  # which English set would it be
    parts = split_into_parts([cases_in("en"), cases_in("fr"), cases_in("de", name="other")], None)
    families = find_families(parts)
    assert [list(family.parts) for family in families] == [["en", "fr"]]
    assert describe_unpaired(parts, families).startswith("other (de): not paired")


def test_partial_overlap_is_used_and_said() -> None:
    sets = [cases_in("en"), cases_in("fr", n=9), cases_in("es", start=4)]
    result = dh.bench(sets, DOCUMENTS, RETRIEVERS[0], "RR", n_resamples=99)
    (found,) = result.across.values()
    assert {(one.pair.system, one.pair.baseline): one.pair.n_queries for one in found.differences} == {
        ("fr", "en"): 9,
        ("es", "en"): 8,
        ("es", "fr"): 5,
    }
    assert found.n_shared == 5
    assert facts_by_heading(report_bench(result))["paired"].startswith(
        "set: 5 cases in each of en, fr, es; 7 in some of them, "
    )
    assert "Across 3 languages" in result.report()  # over all cases of each: other means


def test_pairs_that_ask_for_something_else_are_named() -> None:
    french = cases_in("fr")
    other = Cases("set", {}, (replace(french.cases[0], expected_ids=("D2",)), *french.cases[1:]))
    unlike, alike = (
        facts_by_heading(report_bench(dh.bench(sets, DOCUMENTS, RETRIEVERS[0], "RR", n_resamples=99)))["paired"]
        for sets in ([cases_in("en"), other], [cases_in("en"), french])
    )
    assert any(line.startswith("set: 1 pair id with ") and "(p00)" in line for line in unlike.splitlines())
    assert "other expected ids" in unlike
    assert "other expected ids" not in alike


@pytest.mark.slow
@pytest.mark.parametrize("test", ["tukey", "bootstrap-t", "sign"])
def test_other_tests_are_of_the_same_pairs(test: str) -> None:
    """Tukey's takes the cases that all languages have."""
    sets = [cases_in("en"), cases_in("fr", n=9), cases_in("es", start=4)]
    result = dh.bench(sets, DOCUMENTS, RETRIEVERS, "RR", n_resamples=99, test=test)
    (found,) = result.across.values()
    counts = {one.pair.n_queries for one in found.differences}
    assert counts == ({5} if test == "tukey" else {5, 8, 9})
    assert len(found.interactions) == 3
    assert "set: differences between lang" in result.report()


@pytest.mark.slow
def test_retrievers_and_languages_have_lines_of_their_own() -> None:
    """Sets are tested exactly or by resamples as they are large, and languages corrected together."""
    sets = [cases_in(language) for language in ("en", "fr", "es")]
    result = dh.bench(sets, DOCUMENTS, RETRIEVERS, "RR", n_resamples=99, margin=0.3)
    (found,) = result.across.values()
    n_significant = sum(one.pair.significant for one in found.differences)
    report = result.report()
    assert re.search(r"\bof 3 differences between retrievers", report)
    assert re.search(rf"\b{n_significant} of 6 differences between lang", report)
    alone = dh.bench(sets, DOCUMENTS, RETRIEVERS[0], "RR", n_resamples=99).report()
    assert f"{sum(one.pair.significant for one in found.differences if one.system == 'one')} of 3 differences" in alone
    assert "between languages:" not in alone


@pytest.mark.slow
def test_the_languages_of_several_sets_are_told_apart() -> None:
    sets = [cases_in(language, name=name) for name in ("one set", "two") for language in ("en", "fr")]
    for retrievers in (RETRIEVERS, RETRIEVERS[0]):
        report = dh.bench(sets, DOCUMENTS, retrievers, "RR", n_resamples=99).report()
        for name in ("one set", "two"):
            assert f"between languages of {name}: paired" in report
            assert f"Between languages of {name}, by RR over " in report


def test_languages_whose_cases_prove_nothing_of_a_margin_are_named() -> None:
    few = [cases_in(language, n=4) for language in ("en", "fr")]
    result = dh.bench(few, DOCUMENTS, RETRIEVERS[0], "RR", n_resamples=99, margin=0.9)
    (doubt,) = facts_by_heading(report_bench(result))["margin"].splitlines()[1:]
    assert numbers_in(doubt) == [5, 1, 1]
    assert doubt.endswith(" fr / en (RR; one)")
    alike = skilled("alike", en=7, fr=7)
    sets = [cases_in(language) for language in ("en", "fr")]
    result = dh.bench(sets, DOCUMENTS, alike, "RR", n_resamples=99, margin=0.1)
    (doubt,) = facts_by_heading(report_bench(result))["margin"].splitlines()[1:]
    assert doubt.startswith("one difference in all ")
    assert doubt.endswith(" fr / en (RR; alike)")


def test_clusters_are_those_of_the_pairs() -> None:
    sets = [cases_in("en"), cases_in("fr")]
    result = dh.bench(sets, DOCUMENTS, RETRIEVERS[0], "RR", cluster="expected_ids", n_resamples=99)
    (found,) = result.across.values()
    assert found.differences[0].pair.n_clusters == 4


@pytest.mark.slow
def test_pages_have_the_languages_of_a_benchmark(tmp_path: Path) -> None:
    """That of the object, and that of its folder, which keeps what belongs together."""
    result = dh.bench(
        sets_of("en", "fr"), DOCUMENTS, RETRIEVERS, "RR", n_resamples=99, margin=0.2, output=tmp_path / "results"
    )
    ok("report", str(tmp_path / "results"), "-o", str(tmp_path / "page.html"))
    row = result.across["set"].differences_to_polars(0.2).row(0, named=True)
    for page in (result.to_html(full=True), (tmp_path / "page.html").read_text()):
        assert re.search(r"set: the same 12 \w+ in 2 lang", page)
        assert "p within 0.2" in page
        assert f">{row['difference']:.4f}<" in page
        assert page.index("set: differences between lang") < page.index('id="s0-verdict"')
    alone = dh.bench(cases_in("en"), DOCUMENTS, RETRIEVERS, "RR", n_resamples=99, output=tmp_path / "results")
    ok("report", str(tmp_path / "results"), "-o", str(tmp_path / "page.html"))
    assert "differences between languages" not in (tmp_path / "page.html").read_text() + alone.to_html(full=True)


@pytest.mark.slow
def test_pairs_that_are_one_cluster_in_a_language_are_one_for_all() -> None:
    """English has two clusters of six, French three of four: a chain of both leaves as many as a search finds."""
    of_case = {f"en{n}": f"a{n // 3}" for n in range(12)} | {f"fr{n}": f"b{n % 2 + 2 * (n > 5)}" for n in range(12)}
    sets = [cases_in("en"), cases_in("fr")]
    result = dh.bench(sets, DOCUMENTS, RETRIEVERS[0], "RR", cluster=of_case, n_resamples=99)
    (found,) = result.across.values()
    groups = [{n} for n in range(12)]
    for one in range(12):
        for other in range(one):
            if any(of_case[f"{code}{one}"] == of_case[f"{code}{other}"] for code in ("en", "fr")):
                both = groups[one] | groups[other]
                for n in both:
                    groups[n] = both
    assert found.cluster is not None
    alike = [{other for other in range(12) if found.cluster[other] == found.cluster[one]} for one in range(12)]
    assert alike == groups
    assert len({frozenset(one) for one in groups}) == found.differences[0].pair.n_clusters == 2
    assert "different clusters" in facts_by_heading(report_bench(result))["clusters"]
    assert "which leaves 2 clusters" in facts_by_heading(report_bench(result))["clusters"]
    same = dh.bench(sets, DOCUMENTS, RETRIEVERS[0], "RR", cluster="expected_ids", n_resamples=99)
    assert "different clusters" not in same.report()


def test_a_pair_id_is_once_in_a_language() -> None:
    case = cases_in("en").cases[0]
    with pytest.raises(CasesError, match=r"2 cases .*pair_id 'p00'"):
        Cases("x", {}, (case, replace(case, case_id="other")))


def test_pair_ids_are_kept_in_files(tmp_path: Path) -> None:
    path = tmp_path / "set.json"
    write_cases(path, cases_in("en"))
    assert read_cases(path).cases == cases_in("en").cases
    assert cases_in("en").queries()["pair_id"].to_list()[:2] == ["p00", "p01"]
    assert "pair_id" not in CASES.queries().columns


@pytest.mark.slow
def test_the_command_compares_languages_and_writes_all_numbers(tmp_path: Path) -> None:
    for language in ("en", "fr"):
        write_cases(tmp_path / f"{language}.json", cases_in(language))
    rows = [f"{DOC},{text}" for DOC, text in zip(TERMS, ("en 1", "fr 2", "3 en", "fr"), strict=True)]
    (tmp_path / "documents.csv").write_text("\n".join(["doc_id,text", *rows]) + "\n")
    command = [
        *("bench", str(tmp_path / "en.json"), str(tmp_path / "fr.json")),
        *("--collection", str(tmp_path / "documents.csv"), "--collection-language", "en", "-m", "RR Hit@1"),
        *("--retriever", "bm25", "--retriever", "string", "--n-resamples", "99", "--margin", "0.2"),
    ]
    shown = " ".join(ok(*command).split())
    assert "the same 12 cases in 2 lang" in shown
    assert "p within 0.2" in shown
    found = json.loads(ok(*command, "--format", "json", "--output", str(tmp_path / "results")))
    difference = found["language_differences"]["set"]["bm25"]["fr"]["en"]["RR"]
    assert difference["margin"] == 0.2
    assert found["across_languages"]["set"]["string"]["RR"]["n_queries"] == 12
    assert set(found["language_interactions"]["set"]["fr"]["en"]) == {"string"}
    kept = json.loads((tmp_path / "results" / "bench.json").read_text())
    assert [row["system"] for row in kept["across_languages"]] == ["bm25", "string"] * 2
    assert found["languages"] == ["en", "fr"]
    rows = ok(*command, "--format", "csv", "--table", "language_differences").splitlines()
    assert len(rows) == 1 + 2 * 2
    assert str(difference["p_adjusted"]) in ok(*command, "--format", "csv", "--table", "language_differences")
    with pytest.raises(ParameterError, match="margin must be"):
        dh.bench(CASES, DOCUMENTS, margin=0)
    with pytest.warns(NoteWarning, match="margin changes no value: no set has cases that a pair_id pairs"):
        dh.bench(CASES, DOCUMENTS, texts=[], n_resamples=99, margin=0.1)
