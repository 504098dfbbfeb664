"""bench(): every retriever on every set of cases."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from deadheat.arguments import Rng, as_count, check_choice, generator, positive, whole
from deadheat.benchmark.collection import SYNONYMS, Collection, read_collection
from deadheat.benchmark.failures import Failure, failures_of
from deadheat.benchmark.languages import checked_code
from deadheat.benchmark.measures import check_depth, cutoff_of, measures_of
from deadheat.benchmark.meeting import spoken_in, words_by_language
from deadheat.benchmark.ontology import KINDS, ORIGINAL, Ontology, read_ontology
from deadheat.benchmark.parts import (
    Part,
    check_by,
    check_cluster,
    check_expected,
    count_verbatim,
    parts_of,
    split_cells,
)
from deadheat.benchmark.report import BenchResult
from deadheat.benchmark.result import Key, Settings
from deadheat.benchmark.retrievers import Retriever, RunFile, described, identity, make_retrievers
from deadheat.benchmark.running import Search, evaluate_part
from deadheat.benchmark.store import Store, summarise
from deadheat.comparison.comparison import Comparison, assemble
from deadheat.comparison.pairs import Design
from deadheat.errors import DeadheatWarning, NoteWarning, ParameterError, SourceTypeError, UnknownExpectedWarning
from deadheat.evaluation.evaluate import Measures
from deadheat.evaluation.evaluation import Evaluation
from deadheat.measures import MaxRel, Measure
from deadheat.wording import Plain

LARGE = 1_000_000  # bytes: reading a larger file takes long enough to be announced


def bench(  # noqa: PLR0917 - seven that callers may well give by position
    cases: object,
    collection: Collection | str | Path,
    retrievers: object = ("bm25",),
    measures: Measures = None,
    k: int = 50,
    output: str | Path | None = None,
    rng: Rng = 0,
    *,
    at: Sequence[int] | None = None,
    by: str | Sequence[str] = (),
    ontology: Ontology | str | Path | None = None,
    kind: str = "lin",
    synonyms: str = "exact",
    texts: str | Path | Sequence[str | Path] = (),
    original: str = "fallback",
    collection_language: str | None = None,
    baseline: str | None = None,
    limit: int | None = None,
    cluster: str | Mapping[str, object] | None = None,
    test: str = "randomization",
    correction: str = "holm",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    method: str = "auto",
    margin: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> BenchResult:
    """Run retrievers on labelled cases, and compare them; each set and each language separately.

    Parameters
    ----------
    cases : Cases, path, sequence of them, or mapping of name to one
    collection : Collection or path
        The documents that are searched.
    retrievers : mapping of str to retriever, sequence of retrievers, or one, default "bm25"
        "bm25" or "string" (also with options), a path of a run file, a model's name or folder, a function
        ``f(texts, k)`` that returns ``{doc_id: score}`` for each text, or an object with name, index and
        search (see `Retriever`).
    measures : measure or iterable of measures, optional
        By default RR, and Hit, nDCG, R, P, AP(norm='min') and, with an ontology, MaxRel at the cutoffs `at`.
    k : int, default 50
        Documents for each text; those that tie with the k-th one stay, so that ties are evaluated exactly.
    output : path, optional
        A folder for runs, evaluations and a report. Finished runs of the same retriever, texts, documents and `k` are
        reused, except those of functions and objects without a ``key``. Evaluations and report are those of the last
        call: evaluations of the previous call that this one does not make again are removed. Only one call at a time
        may use a folder, and only files that such a call wrote are replaced.
    rng : numpy.random.Generator or int, default 0
        Seed of intervals and tests.
    at : sequence of int, optional
        Cutoffs of the default measures: 1, 3, 5 and 10.
    by : str or sequence of str, optional
        Columns of strata that the reports show: "difficulty", "category" or "domain"; of several, every combination.
        By default the report in `output` shows each column that has labels, and the screen none.
    ontology : Ontology or path, optional
        MaxRel then uses its judgments: the highest similarity of a retrieved document to an expected one.
    kind : str, default "lin"
        The kind of similarity.
    synonyms : {"exact", "all", "none"}, default "exact"
        Which synonyms count, as for :func:`read_collection`; a `Collection` has made the choice already.
    texts, original, collection_language
        Tables of translated names, what becomes of the names of the ontology, and the language of the documents, as
        `texts`, `original` and `language` of :func:`read_collection`.
    baseline : str, optional
        Name of the retriever that all others are compared with; by default, every pair is compared.
    limit : int, optional
        Use only this many cases of each set and language, for a quick look; kept apart from full results.
    cluster : {"expected_ids", "text", "difficulty", "category", "domain"} or mapping of case id to cluster, optional
        What dependent cases share: they are resampled as a whole. "expected_ids": cases that share an expected id.
    test, correction, alternative, confidence_level, n_resamples, method
        As for :func:`compare`.
    margin : float, optional
        Of sets that are parallel: also test whether a retriever's languages are equivalent up to it.
    progress : callable, optional
        Called with one line of text for each step.

    Returns
    -------
    BenchResult

    Raises
    ------
    ParameterError
        An option has an unknown value.
    DataError
        Cases or collection cannot be used, or do not share ids; or `output` holds files of these names that `bench`
        did not write, or is in use by another call.
    """
    k = as_count("k", k)
    check_choice("kind", kind, KINDS)
    if margin is not None:
        positive("margin", margin)
    check_cluster(cluster)
    of_collection = {"synonyms": synonyms, "texts": texts, "original": original, "language": collection_language}
    _check_collection(collection, of_collection)
    tell = progress or (lambda _: None)
    chosen = measures_of(measures, at, has_ontology=ontology is not None)
    check_depth(chosen, k)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DeadheatWarning)
        systems = make_retrievers(retrievers)
    # a file named like a retriever; warnings of libraries while they load are not passed on
    confused = [one.message for one in caught if issubclass(one.category, DeadheatWarning)]
    design = Design(
        baseline=baseline,
        test=test,
        correction=correction,
        alternative=alternative,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        method=method,
        rng=_seed(rng),
    )
    names = list(systems)
    if baseline is not None:
        check_choice("baseline", baseline, names)
    # a single retriever is not compared
    design.check_systems(names if len(names) > 1 else [*names, ""], has_clusters=cluster is not None)
    parts = parts_of(cases, limit)
    strata = check_by(by, parts) if by else ()
    _check_parts(parts, systems, cluster)
    documents, terms = _read(collection, ontology, of_collection, tell)
    parts, cells = split_cells(parts, documents)
    settings = Settings(
        collection=documents.name,
        spoken=spoken_in(documents, parts),
        n_documents=len(documents.ids),
        k=k,
        measures=chosen,
        design=design,
        cluster=cluster,
        limit=limit,
        ontology=None if terms is None else repr(terms).strip("<>"),
        kind=kind,
        by=strata,
        systems={name: described(one) for name, one in systems.items()},
        margin=margin,
        words={name: found for name, one in systems.items() if (found := words_by_language(one, parts))},
    )
    graded = [one for one in chosen if isinstance(one, MaxRel)]
    notes = [
        *confused,
        *map(NoteWarning, [*cells, *documents.notes]),
        *map(NoteWarning, check_expected(parts, documents, terms if graded else None)),
    ]
    if terms is not None and not graded:
        message = f"the ontology changes nothing: only MaxRel uses it; add {_max_rel(chosen, k)} to the measures"
        notes.append(NoteWarning(message))
    chance = _chance(parts, terms, graded, kind)
    store = None if output is None else Store(output, limit)
    with nullcontext() if store is None else store.held(parts, systems, k):
        search = partial(Search, documents=documents, k=k, store=store, tell=tell)
        runs = _run_all(systems, parts, search, settings, terms)
        said = {str(note): note for note in (*notes, *runs.notes)}  # each once
        result = BenchResult(
            evaluations=runs.evaluations,
            comparisons=_compare(runs.evaluations, parts, design, cluster),
            parts={(part.name, part.language): part for part in parts},
            retrievers=tuple(systems),
            settings=settings,
            chance=chance,
            verbatim={(part.name, part.language): count_verbatim(part, documents) for part in parts},
            failures=runs.failures,
            reused=tuple(runs.reused),
            notes=tuple(said),
        )
        for note in said.values():
            warnings.warn(note, stacklevel=2)
        if store is not None:
            _save(result, store, documents, systems)
    return result


@dataclass
class _Runs:
    """The evaluations and failures of all runs, which runs were reused, and notes on their ids."""

    evaluations: dict[Key, Evaluation] = field(default_factory=dict)
    failures: dict[Key, tuple[Failure, ...]] = field(default_factory=dict)
    reused: list[Key] = field(default_factory=list)
    notes: list[Warning | str] = field(default_factory=list)


def _run_all(
    systems: Mapping[str, Retriever],
    parts: Sequence[Part],
    search: Callable[..., Search],
    settings: Settings,
    ontology: Ontology | None,
) -> _Runs:
    """Search and evaluate with one retriever after the other, each on every part."""
    measures, kind = settings.measures, settings.kind
    runs = _Runs()
    for name, system in systems.items():
        own = search(name, system)
        for part in parts:
            key = Key(part.name, part.language, name)
            found, is_old = own.run(part)
            runs.reused += [key] * is_old
            runs.failures[key] = failures_of(part.cases.cases, found, own.documents, part.language)
            runs.evaluations[key], said = evaluate_part(part, found, measures, name=name, ontology=ontology, kind=kind)
            runs.notes += said
    return runs


def _save(result: BenchResult, store: Store, documents: Collection, retrievers: Mapping[str, Retriever]) -> None:
    for key, evaluation in result.evaluations.items():
        part = result.parts[key[:2]]
        store.save(part, evaluation, result.interval_options(part))
    store.finish(result.report(), summarise(result, documents, retrievers))


def _max_rel(measures: Sequence[Measure], k: int) -> MaxRel:
    """Return a MaxRel to go with other measures: at the deepest of their cutoffs, or at 10."""
    return MaxRel(cutoff=max(map(cutoff_of, measures)) or min(k, 10))


def _seed(rng: Rng) -> int:
    """Return a seed, drawn if none was given, so that intervals in tables and files agree."""
    number = whole(rng)
    return int(generator(rng).integers(1 << 32)) if number is None or number < 0 else number


def _check_collection(collection: object, options: Mapping[str, Any]) -> None:
    """Refuse what is not a collection, and choices of its texts that come too late."""
    check_choice("synonyms", options["synonyms"], SYNONYMS)
    check_choice("original", options["original"], ORIGINAL)
    if options["language"] is not None:
        checked_code("collection_language", options["language"])
    if not isinstance(collection, Collection | Ontology | str | os.PathLike):
        raise SourceTypeError(
            argument="collection", given=Plain(type(collection).__name__), allowed="a Collection or a path"
        )
    defaults = {"synonyms": "exact", "texts": (), "original": "fallback", "language": None}
    late = [name for name, default in defaults.items() if options[name] != default]
    if isinstance(collection, Collection) and late:
        raise ParameterError(
            f"{late[0]}={options[late[0]]!r} is only for a collection that is read here",
            given=Plain("a Collection"),
            hint="give its path",
        )


def _check_parts(
    parts: Sequence[Part], systems: Mapping[str, Retriever], cluster: str | Mapping[str, object] | None
) -> None:
    """Refuse columns without labels, keys that JSON cannot hold and run files that lack a part, before any search."""
    for part in parts:
        part.clusters(cluster)
    for system in systems.values():
        identity(system)
        if isinstance(system, RunFile):
            for part in parts:
                system.look_up([case.case_id for case in part.cases], of=str(part))


def _compare(
    evaluations: Mapping[Key, Evaluation],
    parts: Sequence[Part],
    design: Design,
    cluster: str | Mapping[str, object] | None,
) -> dict[tuple[str, str], Comparison]:
    """Compare the retrievers within each part; empty if there is only one."""
    found = {}
    for part in parts:
        own = {key.retriever: one for key, one in evaluations.items() if key[:2] == (part.name, part.language)}
        if len(own) > 1:
            found[part.name, part.language] = assemble(own, design, part.clusters(cluster), None, {})
    return found


def _read(
    collection: Collection | str | Path,
    ontology: Ontology | str | Path | None,
    options: Mapping[str, Any],
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
    with warnings.catch_warnings(action="ignore", category=NoteWarning):  # they are notes of the report
        return read_collection(terms if is_same and terms is not None else collection, **options), terms


def _chance(
    parts: Sequence[Part], ontology: Ontology | None, measures: Sequence[Measure], kind: str
) -> dict[tuple[str, str], dict[str, float]]:
    """Return the expected score of a random ranking of all terms, by MaxRel measure that has a cutoff.

    Raises, before anything is searched, if the ontology has none of the expected ids of a part.
    """
    if ontology is None or not measures:
        return {}
    cut = [one for one in measures if cutoff_of(one)]
    found: dict[tuple[str, str], dict[str, float]] = {}
    for part in parts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnknownExpectedWarning)  # `check_expected` has named the missing ids
            of_part = ontology.chance(kind, qrels=part.cases.qrels(), cutoffs=[cutoff_of(one) for one in cut])
        if cut:
            found[part.name, part.language] = {one.label: of_part.max_rel[cutoff_of(one)] for one in cut}
    return found
