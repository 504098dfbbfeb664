"""One of a thing is named in the singular, wherever numbers of things are."""

import deadheat as dh

QRELS, RUN = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0}}


def test_one_query_is_no_queries() -> None:
    evaluation = dh.evaluate(QRELS, RUN, ["RR", "NumRet"])
    assert repr(evaluation["RR"]).endswith(" over 1 query>")
    assert repr(evaluation["NumRet"]).endswith(" over 1 query>")
    assert repr(evaluation.placements).startswith("<Placements 1 query, 1 judged document ")
    comparison = dh.compare(QRELS, {"one": RUN, "other": RUN}, "RR", method="t", n_resamples=99)
    assert "0 of 1 difference significant" in repr(comparison)
    queries = dh.Queries({"q": {"language": "en"}})
    assert ": 1 query, " in repr(queries)
    assert "1 order," in repr(dh.tie_orders({"a": 2.0, "b": 1.0}, {"a": 1}, "RR"))


def test_two_are_several() -> None:
    evaluation = dh.evaluate({**QRELS, "r": {"a": 1}}, {**RUN, "r": {"a": 1.0}}, ["RR"])
    assert repr(evaluation["RR"]).endswith(" over 2 queries>")
    assert repr(evaluation.placements).startswith("<Placements 2 queries, 2 judged documents ")
