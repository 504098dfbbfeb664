"""The HPO: phentrieve's published values on every query, false ones of `hybrid`, sizes and speed."""

from __future__ import annotations

import gzip
import warnings

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import DeadheatWarning
from support.shared_data import HPO, hpo_ontology, hpo_qrels, hpo_run, needs_shared_data

pytestmark = [pytest.mark.slow, needs_shared_data]  # the ontology takes five seconds to read
CUTOFFS = (1, 3, 5, 10)


def judge(run: str, kind: str, *, ideal: bool = True) -> dh.Qrels:
    """Judge one of the runs; two expected ids of the German cases are not in this release."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeadheatWarning)
        return hpo_ontology().judge(hpo_qrels(run), hpo_run(run), kind=kind, ideal=ideal)


def published(run: str, kind: str) -> dict[str, list[float]]:
    """Read phentrieve's MaxOntSim@1/3/5/10 by query."""
    with gzip.open(HPO / f"hpo-{run}.maxontsim.tsv.gz", "rt") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return {query: [float(value) for value in values] for query, formula, *values in rows[1:] if formula == kind}


@pytest.mark.parametrize("kind", ["hybrid", "simple_resnik_like"])
@pytest.mark.parametrize("run", ["de.minilm-f32", "de.bm25", "en.minilm-f32", "en.bm25"])
def test_published_values_of_every_query_are_reproduced(run: str, kind: str) -> None:
    evaluation = dh.evaluate(
        judge(run, kind), hpo_run(run), [dh.MaxRel @ cutoff for cutoff in CUTOFFS], ties="input", missing="empty"
    )
    expected = published(run, kind)
    assert list(evaluation["MaxRel@1"].query_ids) == sorted(expected)
    for column, cutoff in enumerate(CUTOFFS):
        wanted = [expected[query][column] for query in sorted(expected)]
        np.testing.assert_allclose(evaluation[f"MaxRel@{cutoff}"].values, wanted, rtol=0, atol=1e-15)


def test_the_ideal_beside_them_changes_no_maximum() -> None:
    run = hpo_run("en.bm25")
    means = [dh.evaluate(judge("en.bm25", "lin", ideal=ideal), run, ["MaxRel@10"]).means() for ideal in (True, False)]
    assert means[0] == means[1]


def test_hybrid_gives_1_to_different_terms_and_lin_to_none() -> None:
    ontology = hpo_ontology()
    false_ones = {"hybrid": 0, "lin": 0}
    related = 0
    above = [ontology.graph.ancestors(term)[0] for term in range(len(ontology))]
    below: list[list[int]] = [[] for _ in above]
    for term, ancestors in enumerate(above):
        for ancestor in ancestors:
            below[ancestor].append(term)
    for term in range(len(ontology)):
        family = np.union1d(above[term], below[term])
        for kind in false_ones if term % 10 == 0 else ("hybrid",):  # lin gives none, of any tenth term
            alike = np.flatnonzero(ontology.similarities(ontology.ids[term], kind) == 1)
            assert term in alike
            false_ones[kind] += len(alike) - 1
            related += len(np.intersect1d(alike, family)) - 1 if kind == "hybrid" else 0
    assert false_ones == {"hybrid": 2 * 191_083, "lin": 0}
    assert related == 2 * 14_025


def test_false_pairs_of_hybrid() -> None:
    dysplasia, amyloidosis = "HP:0000003", "HP:0001917"
    assert hpo_ontology().similarity(dysplasia, amyloidosis, kind="hybrid") == 1
    assert hpo_ontology().similarity(dysplasia, amyloidosis) < 0.8


def test_no_similarity_but_resnik_depends_on_a_root() -> None:
    root = hpo_ontology().similarities("HP:0000001")
    assert root[hpo_ontology().index("HP:0000001")] == 1
    assert np.count_nonzero(root) == 1


def test_ontology_graded_ndcg() -> None:
    judged = judge("en.minilm-f32", "lin")
    evaluation = dh.evaluate(judged, hpo_run("en.minilm-f32"), ["nDCG@10", "MaxRel@10", "MaxRel"])
    scores = evaluation["nDCG@10"]
    assert 0.7 < scores.mean < 0.9
    assert scores.values.max() <= 1 + 1e-12
    with pytest.warns(DeadheatWarning, match="2 expected ids are not terms"):
        chance = hpo_ontology().chance(hpo_qrels("en"))
    assert chance[1] < chance[10] < evaluation["MaxRel@10"].mean < evaluation["MaxRel"].mean


def test_what_the_file_holds() -> None:
    ontology = hpo_ontology()
    assert len(ontology) == 19_034
    assert ontology.version == "hp/releases/2025-01-16"
    assert sum(not own for own in ontology.parents) == 1
    assert ontology.graph.depth.max() == 14
    assert len(ontology.obsolete) == 450
    assert ontology.labels[ontology.index("HP:0001250")] == "Seizure"
    exact = [
        synonym.text
        for own, label in zip(ontology.synonyms, ontology.labels, strict=True)
        for synonym in own
        if synonym.scope == "EXACT" and synonym.text.lower() != label.lower()
    ]
    assert len(exact) + len(ontology) == 39_065  # strings of the committed runs' index, read with obonet
    kinds = {synonym.kind for own in ontology.synonyms for synonym in own}
    assert {"", "layperson", "abbreviation", "plural_form", "uk_spelling"} <= kinds


@pytest.mark.parametrize("run", ["de.minilm-f32"])
def test_missing_expected_ids_are_named(run: str) -> None:
    with pytest.warns(DeadheatWarning, match="2 expected ids are not terms of .*: 'HP:0025802', 'HP:6001186'$"):
        hpo_ontology().judge(hpo_qrels(run), hpo_run(run))
