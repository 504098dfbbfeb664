"""Strata as arrays: their numbers are those of the evaluation of each, which is made when it is asked for."""

from __future__ import annotations

import re
import warnings
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.core import hooks
from deadheat.core.evaluation import strata as strata_file
from deadheat.core.evaluation.reported import report_numbers
from deadheat.core.evaluation.strata import Strata
from deadheat.core.evaluation.strata_order import sort_strata
from deadheat.core.evaluation.stratum import NONE
from deadheat.core.evaluation.stratum_places import groups
from deadheat.core.report.cells import LACKING, NumberCell, plain
from deadheat.core.report.make_parts import unexplained
from deadheat.core.report.of_evaluation import report_evaluations
from deadheat.core.report.of_strata import Grouping
from deadheat.core.report.totals import mean_cell

LEVELS = (("very easy",), ("easy", "low"), ("medium", "moderate"), ("hard", "difficult", "high"), ("very hard",))
MEASURES = ["nDCG@3", "RR", "FRP", "NumRelRet", *(["GMAP"] if hooks.is_installed("more_measures") else [])]
NAMES = ("mean", "mean_tie_std", "mean_tie_min", "mean_tie_max", "n_queries")
LABELS = ["easy", "Hard", "very_easy", "10", "9.5", "-3", "+3", "3.0", "007", "7", "k10", "k9", "k09", "a", "a0", "a00"]
LABELS += ["a1b2", "a1b", "b|c", "|", '["x","y|z"]', "[broken", NONE, "é 10", "é 9", "木2", "a1c", "k" + "9" * 30, "k1"]


@cache
def case(*, is_weighted: bool = False) -> dh.Evaluation:
    """Evaluate random scores with ties: some queries have no value for FRP and GMAP, or weight 0."""
    rng = np.random.default_rng(7)
    names = [f"q{n}" for n in range(300)]
    qrels = {query: {f"d{n}": int(rng.integers(0, 3)) for n in range(6)} for query in names}
    run = {query: {f"d{n}": float(rng.integers(0, 4)) for n in range(8)} for query in names[10:]}
    evaluation = dh.evaluate(qrels, run, MEASURES, missing="empty")
    if is_weighted:
        return evaluation.weighted({query: float(rng.integers(0, 3)) for query in names})
    return evaluation


def table(n_groups: int) -> dict[str, dict[str, str | None]]:
    rng = np.random.default_rng(n_groups)
    groups_of_queries = rng.integers(0, n_groups, 300).tolist()
    labels = rng.choice(np.array([*LABELS, None], object), 300).tolist()
    return {
        f"q{n}": {"group": f"g{group}", "label": label}
        for n, (group, label) in enumerate(zip(groups_of_queries, labels, strict=True))
    }


def strata_by(columns: str | list[str], n_groups: int, *, is_weighted: bool = False) -> Strata:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dh.DeadheatWarning)
        return case(is_weighted=is_weighted).by(columns, table(n_groups))


def test_strata_equal_themselves_alone_and_make_no_evaluation_for_that(monkeypatch: pytest.MonkeyPatch) -> None:
    """As other results; a mapping compares its values, which takes minutes for 500,000 of them."""
    strata, same = strata_by("group", 3), strata_by("group", 3)
    monkeypatch.setattr(Strata, "_make", lambda *_: pytest.fail("an evaluation was made"))
    assert strata == strata  # noqa: PLR0124 - that is the question
    assert strata != same
    assert strata != {}
    assert {strata, same} == {same, strata}
    assert len({strata, same}) == 2


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("n_groups", [3, 40, 300])
def test_numbers_are_those_of_each_stratum_to_the_last_bit(n_groups: int, *, is_weighted: bool) -> None:
    strata = strata_by("group", n_groups, is_weighted=is_weighted)
    selected = []
    for places in groups(case().query_ids, "group", table(n_groups)).values():
        selected.append(case(is_weighted=is_weighted).select(places))
    for measure in strata.whole.measures:
        numbers = strata.numbers(measure)
        for name in NAMES:
            expected = [getattr(evaluation[measure], name) for evaluation in selected]
            shown = getattr(numbers, "n_queries" if name == "n_queries" else name).tolist()
            assert list(map(repr, shown)) == list(map(repr, map(type(shown[0]), expected))), (measure, name)
    for evaluation, part in zip(selected, strata.values(), strict=True):
        assert part.to_dict() == evaluation.to_dict()


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("n_groups", [3, 40, 300])
def test_what_is_reported_is_that_of_each_stratum_to_the_last_bit(n_groups: int, *, is_weighted: bool) -> None:
    strata = strata_by("group", n_groups, is_weighted=is_weighted)
    for measure in strata.whole.measures:
        expected = [report_numbers(part[measure]) for part in strata.values()]
        assert list(map(repr, strata.reported(measure))) == list(map(repr, expected)), measure
    is_even = np.arange(300) % 2 == 0
    evens = set(strata.whole.query_ids[is_even].tolist())
    counts = [len(evens.intersection(part.query_ids.tolist())) for part in strata.values()]
    assert strata.count_queries(is_even).tolist() == counts
    assert strata.sizes.tolist() == [len(part.query_ids) for part in strata.values()]


@pytest.mark.slow
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(("method", "n_groups"), [("auto", 3), ("auto", 90), ("t", 40), ("bca", 3)])
def test_intervals_are_those_of_each_stratum_to_the_last_bit(method: str, n_groups: int, *, is_weighted: bool) -> None:
    strata = strata_by("group", n_groups, is_weighted=is_weighted)
    options: dict[str, Any] = {"method": method, "n_resamples": 99, "rng": 3}
    expected = {stratum: part.intervals(**options) for stratum, part in strata.items()}
    intervals = strata.intervals(**options)
    assert list(intervals) == list(expected)
    for stratum, by_measure in intervals.items():
        assert list(map(fields_of, by_measure.values())) == list(map(fields_of, expected[stratum].values()))
        assert list(by_measure) == list(expected[stratum])
        assert by_measure["NDCG@3"] is by_measure["nDCG@3"]


@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_summary_has_the_numbers_of_each_stratum(*, is_weighted: bool) -> None:
    strata = strata_by("group", 40, is_weighted=is_weighted)
    rows = []
    for stratum, part in strata.items():
        for scores, interval in zip(part, part.intervals(method="t").values(), strict=True):
            numbers = [scores.n_queries, scores.mean, interval.low, interval.high, interval.standard_error]
            numbers += [scores.mean_tie_std, scores.mean_tie_min, scores.mean_tie_max]
            is_small = scores.n_queries < strata.smallest
            cells = [None if np.isnan(number) else number for number in numbers]
            known = [interval.method, interval.is_known, interval.unknown]
            rows.append((stratum, scores.measure.label, *cells, is_small, *known))
    assert strata.summary("t").rows() == rows


def fields_of(interval: dh.Interval) -> str:
    return repr(vars(interval))


def test_a_report_of_strata_makes_no_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    strata = strata_by("group", 40)
    rows = []
    for stratum, part in strata.items():
        for scores in part:
            numbers = [mean_cell(scores, of_ties) for of_ties in ("", "tie_std", "tie_min", "tie_max")]
            has_lost = len(unexplained(part, scores)) > 0 and not scores.measure.total
            rows.append(((stratum, scores.measure.label), scores.n_queries, has_lost, numbers))

    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(dh.Evaluation, "split", fail)
    monkeypatch.setattr(dh.Evaluation, "select", fail)
    again = strata_by("group", 40)
    grouping = Grouping("queries", (again,), asked=("group",))
    table = report_evaluations([again.whole], "qrels", grouping=grouping).tables[0]
    keys = [column.key for column in table.columns]
    shown = []
    for row in table.rows:
        cells = dict(zip(keys, row.cells[0], strict=True))
        is_marked = isinstance(cells["value"], NumberCell) and LACKING in cells["value"].marks
        numbers = [plain(cells[key]) for key in ("value", "tie_std", "tie_min", "tie_max")]
        shown.append((row.labels, cells["n_queries"], is_marked, numbers))
    assert list(map(repr, shown)) == list(map(repr, rows))


@pytest.mark.parametrize("columns", [["label"], ["group", "label"]])
def test_places_are_those_of_a_loop_over_queries(columns: list[str]) -> None:
    """Queries with several values are in the stratum of each."""
    rows = table(4)
    cells = {"b|c": ["b", "c"], "|": [NONE], None: [NONE], '["x","y|z"]': ["x", "y|z"]}
    expected: dict[Any, list[int]] = {}
    for place, query in enumerate(case().query_ids.tolist()):
        for label in cells.get(rows[query]["label"], [rows[query]["label"]]):
            stratum = label if len(columns) == 1 else (rows[query]["group"], label)
            expected.setdefault(stratum, []).append(place)
    strata = strata_by(columns, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dh.DeadheatWarning)
        places = groups(case().query_ids, columns, rows)
    assert {stratum: own.tolist() for stratum, own in places.items()} == expected
    assert list(strata) == sorted(expected, key=order)
    small = [stratum for stratum in strata if len(expected[stratum]) < 10]
    assert list(strata.small) == small
    assert strata.n_repeated == sum(map(len, expected.values())) - 300
    unassigned = [
        str(case().query_ids[place]) for stratum in expected if NONE in stratum for place in expected[stratum]
    ]
    if len(columns) == 1:
        unassigned = [str(case().query_ids[place]) for place in expected[NONE]]
    assert list(strata.unassigned) == sorted(unassigned)


def order(stratum: str | tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Return the sort key of a stratum, from the words of :class:`Strata`."""
    keys = (stratum,) if isinstance(stratum, str) else stratum
    return [order_of_label(key) for key in keys]


def order_of_label(label: str) -> tuple[Any, ...]:
    if label == NONE:
        return (3,)
    word = re.sub(r"[\s_-]+", " ", label.casefold())
    for rank, words in enumerate(LEVELS):
        if word in words:
            return 0, rank, label
    if re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?", label):
        return 1, float(label), label
    parts: list[Any] = []
    for place, part in enumerate(re.split("([0-9]+)", label)):
        parts.append(int(part) if place % 2 else part)
    return 2, parts, label


def test_strata_are_sorted_as_their_words_say() -> None:
    labels = [*LABELS, "ﬁ", "diﬃcult", "very   hard", "1.2.10", "1.2.9", "1.2", "v1.2.10", "v1.2.9", "v1.2", "v1"]
    assert sort_strata(labels[::-1]) == sorted(labels, key=order)
    pairs = list(combinations(labels, 2))
    assert sort_strata(pairs[::-1]) == sorted(pairs, key=order)
    assert sort_strata([]) == []


def test_an_evaluation_is_made_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    strata = strata_by("group", 40)
    asked: list[int] = []
    split = dh.Evaluation.split

    def count(evaluation: dh.Evaluation, sets: Any) -> list[dh.Evaluation]:  # noqa: ANN401 - as of the method
        asked.append(len(sets))
        return split(evaluation, sets)

    monkeypatch.setattr(dh.Evaluation, "split", count)
    monkeypatch.setattr(strata_file, "READ_AHEAD", 50)
    assert strata.averages().height == len(MEASURES)
    assert "g7" in repr(strata)
    assert strata.small
    assert len(strata) == 40
    assert not asked
    assert strata["g7"] is strata["g7"]
    assert asked[0] < 40
    assert [part.name for part in strata.values()] == ["run"] * 40
    assert sum(asked) <= 2 * 40
    monkeypatch.setattr(strata_file, "MOST_KEPT", 10)
    again = strata_by("group", 40)
    sizes = [len(part.query_ids) for part in again.values()]
    assert sizes == [len(part.query_ids) for part in strata.values()]
    assert len(again._made) < 40


def test_strata_that_are_asked_for_out_of_turn_are_made_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strata_file, "MOST_KEPT", 10)
    strata = strata_by("group", 40)
    backwards = list(strata)[::-1]
    assert all(stratum in strata for stratum in backwards)
    assert "none such" not in strata
    assert not strata._made
    sizes = [len(strata[stratum].query_ids) for stratum in backwards[:8]]
    assert len(strata._made) == 8
    assert sizes == [len(part.query_ids) for part in list(strata.values())[::-1][:8]]


def test_many_strata_are_named_in_part() -> None:
    assert repr(strata_by("group", 300)).endswith(" more>")
    assert len(repr(strata_by("group", 300))) < 500
