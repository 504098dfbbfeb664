"""Words of other tools and of the sources: what they are read as, and those that mean two things."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat.core.measures.meanings import DOUBTED, MEANINGS
from deadheat.core.measures.notation import split_notation
from deadheat.errors import MeasureError, UnknownMeasureError
from support.command import ok

if TYPE_CHECKING:
    from pathlib import Path

READ = {
    "MaxOntSim@10": "MaxRel@10",
    "Hits@5": "Hit@5",
    "hits@5": "Hit@5",
    "MRR@10": "RR@10",
    "mrr@10": "RR@10",
    "hit_rate@5": "Hit@5",
    "Hit Rate": "Hit",
    "Hit Rate@5": "Hit@5",
    "hit-rate@5": "Hit@5",
    "Hit-Rate": "Hit",
    "HitRate@10": "Hit@10",
    "hitrate@10": "Hit@10",
    "F1-Score@5": "F@5",
    "F1 score": "F",
    "F1Score@5": "F@5",
    "F-Score(beta=2)@5": "F(beta=2)@5",
    "Mean Rank": "MR",
    "Mean Rank@10": "MR@10",
    "First Relevant Position@10": "FRP@10",
    "Ideal DCG@5": "IDCG@5",
    "iDCG@5": "IDCG@5",
    "Mean Average Recall": "AR",
    "Mean Expected Reciprocal Rank": "ERR",
    "Präzision@5": "P@5",
    "präzision": "P",
    "F1-Maß@5": "F@5",
    "F-Maß": "F",
    "Mittlerer Rang@10": "MR@10",
    "mittlerer reziproker Rang@10": "RR@10",
    "Reziproker Rang": "RR",
    "durchschnittliche Präzision": "AP",
    "hit@5": "Hit@5",
    "hr@10": "Hit@10",
    "accuracy@1": "Hit@1",
    "ndcg_at_10": "nDCG@10",
    "map_at_1000": "AP@1000",
    "recall_at_100": "R@100",
    "mrr_at_10": "RR@10",
    "precision_at_5": "P@5",
    "NDCG@10": "nDCG@10",
    "tmhits@3": "TMHits@3",
    "mtrr": "MTRR",
    "MHits@10": "R@10",
    "SetF": "F",
    "SetP": "P",
    "SetR": "R",
    "SetF(beta=2)": "F(beta=2)",
    "Bpref": "bpref",
    "mean average precision": "AP",
    "Average Precision@10": "AP@10",
    "reciprocal rank@10": "RR@10",
    "nDCG(dcg='exp-log2')@10": "nDCG(gain='exp')@10",
    "nDCG(dcg='log2')@10": "nDCG@10",
    "nDCG(gains={1: 1, 2: 3})@10": "nDCG(gain={1: 1, 2: 3})@10",
    "nDCG(dcg='log2', gains={1: 1, 2: 3})": "nDCG(gain={1: 1, 2: 3})",
    "DCG(dcg='exp-log2')": "DCG(gain='exp')",
}


@pytest.mark.plugins("more_measures")
@pytest.mark.parametrize("word", READ)
def test_a_word_is_read_and_kept(word: str) -> None:
    measure = dh.parse_measure(word)
    assert str(measure) == READ[word]
    assert dh.parse_measure(measure.label) == measure
    assert split_notation(f"RR, {word} P@1")[1:] == (*split_notation(word), "P@1")


def test_a_class_takes_the_parameters_of_other_tools() -> None:
    assert dh.nDCG(dcg="exp-log2") @ 5 == dh.nDCG(gain="exp") @ 5  # type: ignore[call-arg]  # not ours
    assert (dh.nDCG @ 5)(gains={1: 2}) == dh.nDCG(gain={1: 2}) @ 5


@pytest.mark.parametrize(
    "wrong",
    ["nDCG(dcg='burges')", "nDCG(dcg='exp-log2', gains={1: 2})", "nDCG(gain='exp', gains={1: 2})", "P(dcg='log2')"],
)
def test_what_contradicts_itself_is_refused(wrong: str) -> None:
    with pytest.raises(MeasureError, match="has no parameter"):
        dh.parse_measure(wrong)


def test_judged_only_is_an_option_of_evaluate() -> None:
    with pytest.raises(MeasureError, match="option of evaluate"):
        dh.parse_measure("nDCG(judged_only=True)@10")


def test_names_of_two_measures_are_not_guessed() -> None:
    """Only names that are alike but for their letters' size, and mean one measure, are read."""
    for name in ("ndgc", "ACC", "hitrat"):
        with pytest.raises(MeasureError, match="unknown measure"):
            dh.parse_measure(name)


@pytest.mark.parametrize(("word", "both"), [("Trefferquote@5", "'R' or 'Hit'"), ("Genauigkeit", "'P' or 'accuracy'")])
def test_a_german_name_of_two_measures_is_refused_with_both(word: str, both: str) -> None:
    with pytest.raises(UnknownMeasureError, match=f"Did you mean {both}"):
        dh.parse_measure(word)


@pytest.mark.plugins("more_measures")
@pytest.mark.parametrize(("measure", "word"), [(measure, word) for measure, own in MEANINGS.items() for word in own])
def test_a_name_that_means_two_things_says_both(word: str, measure: str) -> None:
    if type(dh.parse_measure(word)).__name__ != measure:
        pytest.skip("the name is a measure of its own")
    page = " ".join(ok("measures", word).split())
    assert page.count(MEANINGS[measure][word].partition(";")[2].strip()[:40])


def test_reports_say_how_a_doubted_name_was_read() -> None:
    found = dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, ["Hits@5", "MRR"])
    assert list(found.means()) == ["Hits@5", "MRR"]
    text = " ".join(str(found).split())
    assert "Hits@5 is read as Hit" in text
    assert "NumRelRet@k" in text
    assert {word for own in MEANINGS.values() for word in own} >= DOUBTED
    assert "is read as" not in str(dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, ["Hit@5", "MRR"]))


HIT = "is read as Hit, whether a relevant document is in the top k"
IN_ORDER = "is read as Accuracy, the share of pairs of documents that are in the right order"


@pytest.mark.plugins("compare", "more_measures")
@pytest.mark.parametrize(
    ("given", "read"),
    [
        *((name, IN_ORDER) for name in ("Accuracy@3", "Accuracy_3", "Accuracy.3", "Accuracy_at_3", "Accuracy")),
        *((name, HIT) for name in ("accuracy@3", "accuracy_3", "accuracy.3", "accuracy_at_3", "hits_3", "Hits_at_3")),
    ],
)
def test_reports_say_how_accuracy_was_read_in_every_spelling(given: str, read: str, tmp_path: Path) -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1, "b": 1}}
    for rel in (None, 2):
        evaluation = dh.evaluate(qrels, run, given, rel=rel)
        assert f"{evaluation.measures[0].label} {read}" in " ".join(str(evaluation).split())
    evaluation.save(tmp_path / "saved.json", method="t")
    assert read in " ".join(str(dh.load_evaluation(tmp_path / "saved.json")).split())
    comparison = dh.compare(qrels, {"a": run, "b": run}, given, n_resamples=99)
    assert f"{given} {read}" in " ".join(str(comparison).split())
    assert f"{given} {read}" in " ".join(str(dh.gate(dh.evaluate(qrels, run, given), f"{given} > 0")).split())


def test_a_measure_of_a_caller_with_a_doubted_name_is_not_explained() -> None:
    of_a_caller = dh.Custom("accuracy of pairs", lambda relevance: float(relevance[0]))
    assert "is read as" not in str(dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, of_a_caller))


@pytest.mark.plugins("more_measures")
def test_an_unknown_spelling_of_accuracy_names_both_measures() -> None:
    for name in ("ACCURACY@3", "Acc@3", "acc"):
        with pytest.raises(UnknownMeasureError, match="'Hit' or 'Accuracy'"):
            dh.parse_measure(name)


@pytest.mark.plugins("diversity")
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("alpha-nDCG@20", "alpha_nDCG@20"),
        ("\N{GREEK SMALL LETTER ALPHA}-nDCG@20", "alpha_nDCG@20"),
        ("alpha-DCG", "alpha_DCG"),
        ("ERR-IA@5", "ERR_IA@5"),
        ("nERR-IA@5", "nERR_IA@5"),
        ("MAP-IA", "AP_IA"),
        ("P-IA@5", "P_IA@5"),
        ("strec@10", "StRecall@10"),
        ("R-Prec", "Rprec"),
    ],
)
def test_names_with_hyphens_are_those_of_ndeval_and_of_papers(written: str, read: str) -> None:
    assert str(dh.parse_measure(written)) == read
    assert [str(dh.parse_measure(one)) for one in split_notation(f"AP, {written} RR")] == ["AP", read, "RR"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("unjudged@10", "Hole"),
        ("ROC_AUC", "AUC"),
        ("avg_prec", "AP"),
        ("average_precision", "AP"),
        ("mean_reciprocal_rank@10", "MRR"),
        ("prec@5", "P"),
        ("P5", "P@5"),
        ("ndcg10", "ndcg@10"),
        ("all_trec", "trec"),
        ("nDGC@5", "nDCG"),
    ],
)
def test_what_was_meant_is_not_what_is_spelt_alike(written: str, meant: str) -> None:
    with pytest.raises(UnknownMeasureError, match=f"Did you mean '{meant}'"):
        dh.parse_measure(written)


@pytest.mark.parametrize("written", ["nDGC", "relprec", "xyzzy"])
def test_few_measures_are_named_and_where_all_are(written: str) -> None:
    with pytest.raises(UnknownMeasureError, match=r"All: .* dh\.measures\(\)") as caught:
        dh.parse_measure(written)
    assert str(caught.value).count("'") <= 2 * 6


def test_slips_have_advice_of_their_own() -> None:
    with pytest.raises(MeasureError, match="gain='linear' or gain='exp'"):
        dh.parse_measure("nDCG(dcg='exp')@10")
    with pytest.raises(MeasureError, match="'P@5 P@10'"):
        dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, "ndcg_cut.5,10")
