"""JSON documents of other tools: read by their form, from a file or in Python, or refused with what would work."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import DataError, DuplicateError, SwappedFilesError
from support.changed_documents import changes

HITS = [
    {"_index": "i", "_id": "a", "_score": 2.0},
    {"_index": "i", "_id": "b", "_score": 1.5},
    {"_index": "i", "_id": "c", "_score": 1.5},
]
SCORES = {"q1": {"a": 2.0, "b": 1.5, "c": 1.5}}
RR = {"RR": (1 / 2 + 1 / 3) / 2}  # of c, which ties with b below a
RANK_EVAL: Any = {
    "requests": [
        {
            "id": "q1",
            "request": {"query": {"match": {"text": "amsterdam"}}},
            "ratings": [{"_index": "i", "_id": "c", "rating": 3}, {"_index": "i", "_id": "z", "rating": 0}],
        },
        {"id": "q2", "request": {}, "ratings": []},
    ],
    "metric": {"mean_reciprocal_rank": {"k": 20, "relevant_rating_threshold": 1}},
}
EVALUATED: Any = {
    "metric_score": 0.165,
    "details": {
        "q1": {
            "metric_score": 0.33,
            "unrated_docs": [{"_index": "i", "_id": "a"}, {"_index": "i", "_id": "b"}],
            "hits": [{"hit": hit, "rating": 3 if hit["_id"] == "c" else None} for hit in HITS],
            "metric_details": {"mean_reciprocal_rank": {"first_relevant": 3}},
        },
        "q2": {"metric_score": 0.0, "unrated_docs": [], "hits": []},
    },
    "failures": {"q3": {"error": {"type": "parsing_exception"}}},
}
RESPONSE = {
    "took": 3,
    "timed_out": False,
    "_shards": {"total": 1, "failed": 0},
    "hits": {"max_score": 2.0, "hits": HITS},
}
IMPORTED = {
    "name": "Imported Judgments",
    "type": "IMPORT_JUDGMENT",
    "judgmentRatings": [
        {"query": "q1", "ratings": [{"docId": "c", "rating": "0.700"}, {"docId": "z", "rating": "0.000"}]},
        {"query": "q2", "ratings": []},
    ],
}
MTEB = {"mteb_model_meta": {"model_name": "me/model", "revision": "1"}, "default": {"test": SCORES}}

RUNS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "_rank_eval": (EVALUATED, ("2 of 3 hits are unrated", "1 query failed in the search engine: q3")),
    "_search": ({"q1": RESPONSE}, ()),
    "_search, with queries that failed": (
        {"q0": {"error": {}, "status": 400}, "q1": RESPONSE, "q2": {"error": {"type": "x"}}},
        ("2 queries failed in the search engine: q0, q2",),
    ),
    "hits": ({"q1": HITS}, ()),
    "_rank_eval without a mean": (EVALUATED | {"metric_score": "NaN", "failures": {}}, ("2 of 3 hits are unrated",)),
    "hits of OpenSearch": ({"q1": {"hits": {"total": {"value": 3}, "max_score": 2.0, "hits": HITS}}}, ()),
    "some shards": (
        {"q1": RESPONSE | {"_shards": {"total": 2, "failed": 1}}},
        ("1 query with partial results, as shards failed or time ran out: q1",),
    ),
    "out of time": (
        {"q1": RESPONSE | {"timed_out": True}},
        ("1 query with partial results, as shards failed or time ran out: q1",),
    ),
    "MTEB": (MTEB, ("predictions of MTEB by me/model: default/test",)),
    "MTEB, two splits": (
        MTEB | {"default": {"dev": {"q": {"x": 1.0}}, "test": SCORES}},
        ("predictions of MTEB by me/model: default/test; others: default/dev",),
    ),
    "semantic_search": ({"q1": [{"corpus_id": hit["_id"], "score": hit["_score"]} for hit in HITS]}, ()),
}
QRELS: dict[str, tuple[Any, dict[str, dict[str, float]], tuple[str, ...]]] = {
    "_rank_eval": (RANK_EVAL, {"q1": {"c": 3, "z": 0}, "q2": {}}, ()),
    "OpenSearch": (IMPORTED, {"q1": {"c": 0.7, "z": 0.0}, "q2": {}}, ()),
    "OpenSearch, where a judge failed": (
        IMPORTED
        | {
            "status": "COMPLETED",
            "judgmentRatings": [
                {"query": "q1", "ratings": [{"docId": "c", "rating": "0.7"}], "failures": [{"docId": "y"}]},
                {"query": "q2", "ratings": [], "failures": [{"docId": "y"}, {"docId": "z"}]},
                {"query": "q3", "ratings": [], "failures": []},
            ],
        },
        {"q1": {"c": 0.7}, "q3": {}},
        ("the judge failed to rate 3 documents of 2 queries (q1, q2): they are unjudged",),
    ),
    "OpenSearch, not finished": (
        IMPORTED | {"status": "PROCESSING"},
        {"q1": {"c": 0.7, "z": 0.0}, "q2": {}},
        ("the list of judgments has the status PROCESSING: ratings may be missing",),
    ),
    "OpenSearch, found": (
        {"took": 1, "hits": {"hits": [{"_id": "j1", "_source": IMPORTED}]}},
        {"q1": {"c": 0.7, "z": 0.0}, "q2": {}},
        (),
    ),
    "Quepid, ratings": ({"queries": [{"query": "q1", "ratings": {"c": 3, "z": 0}}]}, {"q1": {"c": 3, "z": 0}}, ()),
    "Quepid, a case": (
        {
            "case_name": "mine",
            "queries": [
                {"query_text": "q1", "ratings": [{"doc_id": "c", "rating": 3}, {"doc_id": "z", "rating": None}]},
                {"query_text": "q2", "ratings": []},
            ],
        },
        {"q1": {"c": 3}},
        ("1 unrated document left out", "1 query without a rating left out (q2)"),
    ),
}


@pytest.mark.parametrize(("document", "notes"), RUNS.values(), ids=RUNS)
def test_runs(document: Any, notes: tuple[str, ...], tmp_path: Path) -> None:  # noqa: ANN401 - JSON
    (tmp_path / "x.json").write_text(json.dumps(document), encoding="utf-8")
    for run in (dh.read_run(tmp_path / "x.json"), dh.read_run(document)):
        assert {query: documents for query, documents in run.to_dict().items() if documents} == SCORES
        assert run.notes == notes
        assert dh.evaluate({"q1": "c"}, run, ["RR"]).means() == pytest.approx(RR, abs=1e-12)
    assert "q1" in dh.read_run(tmp_path / "x.json").to_polars()["query_id"]


@pytest.mark.parametrize(("document", "judged", "notes"), QRELS.values(), ids=QRELS)
def test_qrels(document: Any, judged: object, notes: tuple[str, ...], tmp_path: Path) -> None:  # noqa: ANN401 - JSON
    (tmp_path / "x.json").write_text(json.dumps(document), encoding="utf-8")
    for qrels in (dh.read_qrels(tmp_path / "x.json"), dh.read_qrels(document)):
        assert qrels.to_dict() == judged
        assert qrels.notes == notes


def test_what_the_search_engine_computes() -> None:
    """It breaks the tie as the hits come: 1/3. The mean over both orders is 5/12. q2 without ratings counts as 0."""
    strict = {"q1": [hit["_id"] for hit in HITS]}
    details = EVALUATED["details"]
    first = 1 / details["q1"]["metric_details"]["mean_reciprocal_rank"]["first_relevant"]
    assert dh.evaluate(RANK_EVAL, strict, ["RR"]).to_dict() == {"q1": {"RR": first}, "q2": {"RR": 0.0}}
    assert EVALUATED["metric_score"] == np.mean([one["metric_score"] for one in details.values()])
    assert dh.evaluate(RANK_EVAL, EVALUATED, ["RR"], ties="input").means() == {"RR": (1 / 3 + 0) / 2}
    assert dh.evaluate(RANK_EVAL, EVALUATED, ["RR"]).means() == pytest.approx({"RR": RR["RR"] / 2})


LINES: dict[str, list[Any]] = {
    "sentence-transformers": [
        {
            "query_id": "q1",
            "query": "text",
            "results": [{"corpus_id": hit["_id"], "score": hit["_score"]} for hit in HITS],
        }
    ],
    "hits": [{"query": "q1", "took": 3, "hits": {"total": {"value": 3}, "max_score": 2.0, "hits": HITS}}],
    "a list of hits": [{"query": "q1", "hits": HITS}],
}


@pytest.mark.parametrize("lines", LINES.values(), ids=LINES)
def test_lines(lines: list[Any], tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    run = dh.read_run(tmp_path / "x.jsonl")
    assert run.to_dict() == SCORES
    assert run.notes == ()
    (tmp_path / "x.json").write_text(json.dumps(lines), encoding="utf-8")
    assert dh.read_run(tmp_path / "x.json").to_dict() == SCORES


def test_numbers_in_lines_are_ids_or_scores(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"query_id": 1, "results": [{"corpus_id": 7, "score": 2}, {"corpus_id": 8, "score": -0.5}]}\n')
    assert dh.read_run(path).to_dict() == {"1": {"7": 2.0, "8": -0.5}}
    path.write_text('{"query_id": 1, "results": [{"corpus_id": 7, "score": 1e400}]}\n')
    with pytest.raises(DataError, match=r"x\.jsonl: score .*'1e400'"):
        dh.read_run(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"q": [["a", 1e400]]}', "score is beyond the range of float64: '1e400'"),
        ('{"q": [{"_id": "a", "_score": 1e400}]}', "score is beyond the range of float64: '1e400'"),
        ('{"mteb_model_meta": {}, "default": {"test": {"q": {"a": 1e400}}}}', "score is beyond the range of float64"),
    ],
)
def test_numbers_beyond_float64(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(DataError, match=message):
        dh.read_run(tmp_path / "x.json")
    (tmp_path / "x.json").write_text(text.replace("1e400", "Infinity"))
    assert dh.read_run(tmp_path / "x.json").to_dict() == {"q": {"a": float("inf")}}


SEVERAL = (
    r"several subsets or splits, expected one, got default/test, de/test; write"
    r" dh.read_run\(json.load\(open\('.*'\)\)\['default'\]\['test'\]\)"
)
REFUSED_RUNS: list[tuple[Any, type[Exception], str]] = [
    (RANK_EVAL, SwappedFilesError, "request holds judgments, expected results: the run is in the response"),
    (RESPONSE, DataError, r"a response of _search does not say the query: save \{query: response\}"),
    ({"q1": RESPONSE, "q2": {"took": 3}}, DataError, "query 'q2' has no hits, got {'took': 3}"),
    (
        {"q1": {"hits": {"hits": [*HITS, {"_index": "j", "_id": "a", "_score": 1}]}}},
        DuplicateError,
        "in i, j: write id=lambda",
    ),
    ({"q1": [*HITS, {"_index": "i", "_id": "d", "_score": None}]}, DataError, "result 4 for query 'q1' has no score"),
    (
        {"q1": [{"chunk": "a", "sim": 0.5}]},
        dh.DeadheatError,
        r'got dict .*; write dh.Run.of_results\(results, id="chunk"\)',
    ),
    (IMPORTED, SwappedFilesError, "a list of judgments of OpenSearch holds judgments, expected results"),
    (EVALUATED | {"details": {"q1": []}}, DataError, r"details.q1 is \[\], expected an object with 'hits'"),
    (EVALUATED | {"details": {"q1": {"hits": ["a"]}}}, DataError, r"details.q1.hits\[0\] is 'a'"),
    (EVALUATED | {"details": []}, DataError, r"details is \[\], expected an object"),
    (EVALUATED | {"failures": 5}, DataError, "failures is 5, expected an object"),
    ({"queries": [{"query": "q", "ratings": {}}]}, SwappedFilesError, "export a snapshot as CSV"),
    (MTEB | {"de": {"test": SCORES}}, DataError, SEVERAL),
    (
        MTEB | {"default": {"test": [1, 2]}},
        DataError,
        r"no task of retrieval, expected \{query: \{document: score\}\}, got",
    ),
]


@pytest.mark.parametrize(("document", "error", "message"), REFUSED_RUNS)
def test_runs_that_are_refused(document: Any, error: type[Exception], message: str, tmp_path: Path) -> None:  # noqa: ANN401 - JSON
    (tmp_path / "x.json").write_text(json.dumps(document), encoding="utf-8")
    for source in (tmp_path / "x.json", document):
        with pytest.raises(error, match=message):
            dh.read_run(source)


REFUSED_QRELS: list[tuple[Any, type[Exception], str]] = [
    (EVALUATED, SwappedFilesError, "it rates retrieved documents alone: give the request"),
    (MTEB, SwappedFilesError, "the judgments are in the task's data set: task.load_data"),
    ({"q1": RESPONSE}, SwappedFilesError, "were qrels and run given in the wrong order"),
    ({"requests": [{"ratings": []}]}, DataError, r"requests\[0\] has no 'id': it has 'ratings'"),
    ({"requests": [{"id": ["q"], "ratings": []}]}, DataError, r"requests\[0\].id is \['q'\], expected text or a whole"),
    ({"requests": [{"id": "q", "ratings": 5}]}, DataError, r"requests\[0\].ratings is 5, expected a list"),
    ({"requests": [RANK_EVAL["requests"][0]] * 2}, DuplicateError, "id 'q1' appears twice in requests"),
    (
        {"judgmentRatings": [{"query": "q", "ratings": [{"docId": "a", "rating": "good"}]}]},
        DataError,
        r"judgmentRatings\[0\].ratings\[0\].rating is not a number, got 'good'",
    ),
    ({"judgmentRatings": [{"query": "q", "ratings": [{"docId": "a", "rating": "nan"}]}]}, DataError, "NaN"),
    (
        {"judgmentRatings": [{"query": "q", "rating": []}]},
        DataError,
        r"\[0\] has no 'ratings'. Did you mean 'rating'\?",
    ),
    ({"judgmentRatings": [{"query": "q", "ratings": [[]]}]}, DataError, r"judgmentRatings\[0\].ratings\[0\] is \[\]"),
    ({"judgmentRatings": [5]}, DataError, r"judgmentRatings\[0\] is 5, expected an object with 'query'"),
    ({"judgmentRatings": [{"query": "q", "ratings": []}] * 2}, DuplicateError, "query 'q' appears twice in"),
    ({"hits": {"hits": [{"_source": IMPORTED}] * 2}}, DataError, "2 lists of judgments: Imported"),
    ({"queries": [{"query": "q", "ratings": {}}] * 2}, DuplicateError, "query 'q' appears twice"),
    *(
        ({"queries": [{"query": "q", "ratings": wrong}]}, DataError, rf"queries\[0\].ratings{message}")
        for wrong, message in [
            (5, " is 5, expected an object or a list"),
            (None, " is None"),
            ("x", " is 'x'"),
            ([5], r"\[0\] is 5, expected an object with 'doc_id'"),
            ([{"doc_id": ["a"], "rating": 1}], r"\[0\].doc_id is \['a'\], expected text or a whole number"),
            ([{"doc_id": "a", "rate": 1}], r"\[0\] has no 'rating'. Did you mean 'rate'\?"),
        ]
    ),
]


@pytest.mark.filterwarnings("ignore::deadheat.core.errors.DeadheatWarning")
@pytest.mark.parametrize("document", [one for one, _ in RUNS.values()] + [one for one, *_ in QRELS.values()])
def test_any_change_is_read_or_refused(document: Any) -> None:  # noqa: ANN401 - JSON
    for changed in changes(document):
        for read in (dh.read_qrels, dh.read_run):
            with suppress(dh.DeadheatError):
                read(changed).to_dict()


@pytest.mark.parametrize(("document", "error", "message"), REFUSED_QRELS)
def test_qrels_that_are_refused(document: Any, error: type[Exception], message: str, tmp_path: Path) -> None:  # noqa: ANN401 - JSON
    (tmp_path / "x.json").write_text(json.dumps(document), encoding="utf-8")
    for source in (tmp_path / "x.json", document):
        with pytest.raises(error, match=message):
            dh.evaluate(source, {"q": {"a": 1.0}}, ["RR"])


@pytest.mark.parametrize(
    "plain",
    [
        {"hits": {"a": 1.0}},
        {"requests": ["a", "b"]},
        {"responses": ["a", "b"]},
        {"details": {"a": 1.0}, "metric_score": {"a": 1.0}},
        {"queries": ["a"]},
        {"q": {"hits": 1.0, "took": 2.0}},
        {"hits": [["a", 0.5]]},
    ],
)
def test_plain_runs_with_such_words(plain: Any, tmp_path: Path) -> None:  # noqa: ANN401 - JSON
    (tmp_path / "x.json").write_text(json.dumps(plain))
    assert set(dh.read_run(tmp_path / "x.json").to_dict()) == set(plain) == set(dh.read_run(plain).to_dict())


@pytest.mark.parametrize(
    ("held", "message"),
    [
        ({"error": {"type": "x", "reason": "no such index [docs]"}, "status": 404}, "got 404, no such index"),
        ({"error": "boom", "status": 500}, "got 500, boom"),
    ],
)
def test_the_error_of_a_search_engine_is_no_run(held: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(held))
    for source in (held, tmp_path / "run.json"):
        with pytest.raises(DataError, match=f"the search engine answered with an error, {message}"):
            dh.read_run(source)


def test_queries_may_be_called_error_and_status() -> None:
    run = {"error": {"a": 1.0}, "status": {"b": 2.0}}
    assert dh.read_run(run).to_dict() == run


def test_a_document_that_quepid_rates_twice_is_an_error(tmp_path: Path) -> None:
    """The last one counted."""
    rated = [{"doc_id": "c", "rating": 3}, {"doc_id": "z", "rating": 1}, {"doc_id": "c", "rating": 0}]
    held = {"queries": [{"query": "q0", "ratings": {}}, {"query": "q1", "ratings": rated}]}
    (tmp_path / "x.json").write_text(json.dumps(held))
    message = r"document 'c' comes 2 times for query 'q1' \(results 1, 3\) with relevance 3 and 0, expected once"
    for source in (held, tmp_path / "x.json"):
        with pytest.raises(DuplicateError, match=message):
            dh.read_qrels(source)


def evaluated(*hits: dict[str, Any], **more: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a response of _rank_eval with the hits of q1, and of other queries."""
    lists = {"q1": list(hits), **more}
    rated = {query: {"hits": [{"hit": hit, "rating": 3} for hit in own]} for query, own in lists.items()}
    return {"metric_score": 0.5, "details": rated}


def test_a_hit_without_a_score_does_not_hide_the_scores_of_others() -> None:
    """If it was the first, all were ranked lists without scores."""
    scored, plain = {"_id": "a", "_score": 2.0}, {"_id": "b"}
    for hits in ((plain, scored), (scored, plain), (plain | {"_score": None}, scored)):
        with pytest.raises(DataError, match="'q1' has no score"):
            dh.read_run(evaluated(*hits))
    for held in (evaluated(plain, q2=[scored]), evaluated(scored, q2=[plain])):
        with pytest.raises(dh.DeadheatError, match=r"score, .*'q[12]' have none"):
            dh.read_run(held)
    found = dh.read_run(evaluated(plain, plain | {"_id": "c"}))  # the rating of a hit is no score
    assert found.to_dict() == {"q1": {"b": -1, "c": -2}}


@pytest.mark.parametrize(
    ("rating", "message"),
    [
        ({"_id": "c", "ratng": 0}, "has no 'rating'. Did you mean 'ratng'"),
        ({"_id": "c"}, "has no 'rating': it has '_id'"),
        ({"_id": "c", "rating": None}, "rating is None, expected a number"),
        ({"_id": "c", "rating": True}, "rating is True, expected a number"),
    ],
)
def test_a_rating_that_is_missing_or_misspelled_is_an_error(rating: dict[str, Any], message: str) -> None:
    """Each document was relevant."""
    with pytest.raises(DataError, match=rf"requests\[0\].ratings\[0\].*{message}"):
        dh.read_qrels({"requests": [{"id": "q1", "ratings": [rating]}]})
