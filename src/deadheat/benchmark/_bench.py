"""bench(): every retriever on every set of cases."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deadheat.benchmark._evaluating import evaluate_part
from deadheat.benchmark._measures import check_depth, cutoff_of, measures_of
from deadheat.benchmark._parts import check_cluster, check_expected, count_verbatim, parts_of
from deadheat.benchmark._result import BenchResult, Key, Settings
from deadheat.benchmark._searching import Search
from deadheat.benchmark._store import Store
from deadheat.benchmark._summary import summarise
from deadheat.collection import SYNONYMS, Collection, read_collection
from deadheat.comparing import check_design, compare_evaluations
from deadheat.comparison import Design
from deadheat.errors import DeadheatWarning, ParameterError, SourceTypeError, check_choice
from deadheat.measures import MaxRel
from deadheat.ontology import KINDS, Ontology, read_ontology
from deadheat.retrievers import RunFile, identity, make_retrievers
from deadheat.stats import interval_bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from deadheat.benchmark._parts import Part
    from deadheat.comparison import Comparison
    from deadheat.evaluation import Evaluation
    from deadheat.measures import Measure
    from deadheat.retrievers import Retriever

LARGE = 1_000_000  # bytes of a file, above which reading it takes so long that one wants to know


def bench(  # noqa: PLR0917 - the seven that a call may well give in their order
    cases: object,
    collection: Collection | str | Path,
    retrievers: object = ("bm25",),
    measures: object = None,
    k: int = 50,
    output: str | Path | None = None,
    rng: np.random.Generator | int | None = 0,
    *,
    at: Sequence[int] | None = None,
    ontology: Ontology | str | Path | None = None,
    kind: str = "lin",
    synonyms: str = "exact",
    baseline: str | None = None,
    limit: int | None = None,
    cluster: str | Mapping[str, object] | None = None,
    test: str = "randomization",
    correction: str = "holm",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    method: str = "bca",
    progress: Callable[[str], None] | None = None,
) -> BenchResult:
    """Run retrievers on labelled cases, and compare them; each set and each language by itself.

    Parameters
    ----------
    cases : Cases, path, sequence of them, or mapping of name to one
    collection : Collection or path
        The documents that are searched.
    retrievers : mapping of str to retriever, sequence of retrievers, or one, default "bm25"
        "bm25" (also with options), a path of a run file, a model's name or folder, a function ``f(texts, k)`` that
        returns ``{doc_id: score}`` for each text, or an object with name, index and search (see `Retriever`).
    measures : measure or sequence of measures, optional
        By default RR, and Hit, nDCG, R, P, AP(norm='min') and, with an ontology, MaxRel at the cutoffs `at`.
    k : int, default 50
        Documents for each text; those that tie with the k-th one stay, so that ties are evaluated exactly.
    output : path, optional
        A folder for runs, evaluations and a report. Runs that are finished there, of the same retriever, texts,
        documents and `k`, are not made again, but for those of functions and objects without a ``key``. Evaluations
        and report are those of the last call.
    rng : numpy.random.Generator or int, default 0
        Of intervals and tests.
    at : sequence of int, optional
        Cutoffs of the default measures: 1, 3, 5 and 10.
    ontology : Ontology or path, optional
        MaxRel is then on its judgments: the highest similarity of a retrieved document to an expected one.
    kind : str, default "lin"
        Of similarity.
    synonyms : {"exact", "all", "none"}, default "exact"
        Which synonyms count, as for :func:`read_collection`; of a `Collection` they are chosen already.
    baseline : str, optional
        Name of the retriever that all others are compared with; by default every pair is compared.
    limit : int, optional
        A quick look at the first cases of each set and language; kept apart from full results.
    cluster : {"expected_ids", "text", "difficulty", "category", "domain"} or mapping of case id to cluster, optional
        What cases share that are not independent: it is resampled whole. "expected_ids": cases that share one.
    test, correction, alternative, confidence_level, n_resamples, method
        As for :func:`compare`.
    progress : callable, optional
        Called with a line of text about each step.

    Returns
    -------
    BenchResult

    Raises
    ------
    ParameterError
        An option is not known.
    DataError
        Cases or collection cannot be used, or are not of the same ids.
    """
    check_k(k)
    check_choice("kind", kind, KINDS)
    check_cluster(cluster)
    _check_collection(collection, synonyms)
    tell = progress or (lambda _: None)
    chosen = measures_of(measures, at, has_ontology=ontology is not None)
    check_depth(chosen, k)
    systems = make_retrievers(retrievers)
    design = Design(baseline, test, correction, alternative, confidence_level, n_resamples, method, _seed(rng))
    _check_design(design, list(systems))
    parts = parts_of(cases, limit)
    for part in parts:
        part.clusters(cluster)  # a column without labels is refused before anything is searched
    _check_retrievers(systems, parts)
    documents, terms = _read(collection, ontology, synonyms, tell)
    notes = list(check_expected(parts, documents))
    store = None if output is None else Store(output, limit)
    evaluations: dict[Key, Evaluation] = {}
    reused: list[Key] = []
    for name, system in systems.items():
        search = Search(name, system, documents, k, store, tell)
        for part in parts:
            key = Key(part.name, part.language, name)
            found, is_old = search.run(part)
            reused += [key] * is_old
            evaluations[key], said = evaluate_part(part, found, chosen, name=name, ontology=terms, kind=kind)
            notes += said
    result = BenchResult(
        evaluations=evaluations,
        comparisons=_compare(evaluations, parts, design, cluster),
        parts={(part.name, part.language): part for part in parts},
        retrievers=tuple(systems),
        settings=Settings(
            collection=documents.name,
            n_documents=len(documents.ids),
            k=k,
            measures=chosen,
            design=design,
            cluster=cluster,
            limit=limit,
            ontology=None if terms is None else repr(terms).strip("<>"),
            kind=kind,
        ),
        chance={} if terms is None else _chance(parts, terms, chosen, kind),
        verbatim={(part.name, part.language): count_verbatim(part, documents) for part in parts},
        reused=tuple(reused),
        notes=tuple(dict.fromkeys(notes)),
    )
    for note in result.notes:
        warnings.warn(note, DeadheatWarning, stacklevel=2)
    if store is not None:
        _save(result, store, documents, systems)
    return result


def _save(result: BenchResult, store: Store, documents: Collection, retrievers: Mapping[str, Retriever]) -> None:
    for key, evaluation in result.evaluations.items():
        part = result.parts[key[:2]]
        store.save(part, evaluation, result.interval_options(part))
    store.finish(result.report(), summarise(result, documents, retrievers))


def _seed(rng: np.random.Generator | int | None) -> int:
    """Return a seed, drawn if none was given: intervals in tables and files are then the same."""
    try:
        return rng if isinstance(rng, int) and rng >= 0 else int(np.random.default_rng(rng).integers(1 << 32))
    except (TypeError, ValueError):
        msg = f"rng must be a whole number from 0 on, a numpy.random.Generator or None, got {rng!r}"
        raise ParameterError(msg) from None


def check_k(k: object) -> None:
    """Raise `ParameterError` unless so many documents can be asked for."""
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        msg = f"k must be a whole number of documents from 1 on, got {k!r}"
        raise ParameterError(msg)


def _check_collection(collection: object, synonyms: str) -> None:
    """Refuse what is no collection, and a choice of synonyms that comes too late."""
    check_choice("synonyms", synonyms, SYNONYMS)
    if not isinstance(collection, Collection | Ontology | str | os.PathLike):
        msg = f"collection must be a Collection or a path, got {type(collection).__name__}"
        raise SourceTypeError(msg)
    if isinstance(collection, Collection) and synonyms != "exact":
        msg = f"synonyms={synonyms!r} is for a collection that is read here, got a Collection: give its path"
        raise ParameterError(msg)


def _check_retrievers(systems: Mapping[str, Retriever], parts: Sequence[Part]) -> None:
    """Refuse keys that JSON cannot hold, and run files that lack a part, before anything is searched."""
    for system in systems.values():
        identity(system)
        if isinstance(system, RunFile):
            for part in parts:
                system.look_up([case.case_id for case in part.cases], of=str(part))


def _check_design(design: Design, names: list[str]) -> None:
    """Refuse options of intervals and tests before anything is searched."""
    if design.baseline is not None:
        check_choice("baseline", design.baseline, names)
    check_design(design, names if len(names) > 1 else [*names, ""])  # a single one is compared with none
    interval_bounds(
        np.zeros((2, 1)),
        method=design.method,
        confidence_level=design.confidence_level,
        n_resamples=design.n_resamples,
        cluster=None,
        rng=0,
    )


def _compare(
    evaluations: Mapping[Key, Evaluation],
    parts: Sequence[Part],
    design: Design,
    cluster: str | Mapping[str, object] | None,
) -> dict[tuple[str, str], Comparison]:
    """Compare the retrievers within each part; nothing, if there is only one."""
    found = {}
    for part in parts:
        own = {key.retriever: one for key, one in evaluations.items() if key[:2] == (part.name, part.language)}
        if len(own) > 1:
            found[part.name, part.language] = compare_evaluations(own, **vars(design), cluster=part.clusters(cluster))
    return found


def _read(
    collection: Collection | str | Path,
    ontology: Ontology | str | Path | None,
    synonyms: str,
    tell: Callable[[str], None],
) -> tuple[Collection, Ontology | None]:
    """Read the documents and the ontology, which may be one file."""
    for path in dict.fromkeys(str(one) for one in (ontology, collection) if isinstance(one, str | os.PathLike)):
        if Path(path).is_file() and (path == str(ontology) or Path(path).stat().st_size > LARGE):
            tell(f"reading {path}")
    terms = ontology if ontology is None or isinstance(ontology, Ontology) else read_ontology(ontology)
    if isinstance(collection, Collection):
        return collection, terms
    is_same = terms is not None and not isinstance(ontology, Ontology) and str(collection) == str(ontology)
    return read_collection(terms if is_same and terms is not None else collection, synonyms=synonyms), terms


def _chance(
    parts: Sequence[Part], ontology: Ontology, measures: Sequence[Measure], kind: str
) -> dict[tuple[str, str], dict[str, float]]:
    """Return what random rankings of all terms have, by MaxRel measure."""
    cut = [one for one in measures if isinstance(one, MaxRel) and cutoff_of(one)]
    if not cut:
        return {}
    found = {}
    for part in parts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeadheatWarning)  # said when the documents were judged
            of_part = ontology.chance(kind, qrels=part.cases.qrels(), cutoffs=[cutoff_of(one) for one in cut])
        found[part.name, part.language] = {str(one): of_part.max_rel[cutoff_of(one)] for one in cut}
    return found
