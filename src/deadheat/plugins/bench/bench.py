"""bench(): every retriever on every set of cases, and how they compare."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from inspect import signature
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from deadheat.core.checks import as_count, as_cutoffs, as_positive, check_choice
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.design import Design
from deadheat.core.errors import DeadheatWarning, NoteWarning, ParameterError, SourceTypeError, UnknownExpectedWarning
from deadheat.core.evaluation.evaluate_runs import evaluate_under
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.stratum import NONE
from deadheat.core.evaluation.tie_spread import TieSpread
from deadheat.core.measures import AP, RR, Hit, Measure, P, R, nDCG
from deadheat.core.measures.notation import Measures, parse_measures
from deadheat.core.phases import phase
from deadheat.core.placements.building import PlacedRows, RetrievedLists, build_placements
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.report.model import PAGES, Report, registers_report
from deadheat.core.scalars import as_integer
from deadheat.core.settings import Conventions
from deadheat.core.structures import group_values
from deadheat.core.wording import format_count
from deadheat.plugins.bench.collection import (
    CaseGroup,
    Collection,
    check_by,
    check_cluster,
    check_expected,
    count_verbatim,
    families_of,
    labelled,
    parts_of,
    read_collection,
    split_cells,
)
from deadheat.plugins.bench.languages import checked_code, likely
from deadheat.plugins.bench.ontology import KINDS, Ontology, read_ontology
from deadheat.plugins.bench.report import page_of_bench, report_bench
from deadheat.plugins.bench.report_measures import cutoff_of
from deadheat.plugins.bench.result import BenchResult, BenchSettings, Failure, Key, failures_of, names_of
from deadheat.plugins.bench.retrievers import (
    BM25,
    LLM,
    GradedAnswers,
    Reranked,
    RunFile,
    System,
    described,
    identity,
    make_retrievers,
    reranked,
)
from deadheat.plugins.bench.searching import notes_of_phrases, notes_of_run, search_parts
from deadheat.plugins.bench.store import Store
from deadheat.plugins.compare.comparison import assemble
from deadheat.plugins.more_measures.largest import MaxRel

PAGES[BenchResult] = page_of_bench


@registers_report(BenchResult)
def _report_of(result: BenchResult, *, full: bool = False) -> Report:
    """Return the report of a benchmark: for a screen in brief."""
    report = report_bench(result, full=full)
    return report if full else report.in_brief()


CUTOFFS = (1, 3, 5, 10)


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
    candidates: bool = False,
    collection_language: str | None = None,
    baseline: str | None = None,
    limit: int | None = None,
    cluster: str | Mapping[str, object] | None = None,
    test: str = "randomization",
    correction: str | None = None,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    method: str = "auto",
    margin: float | None = None,
    rerankers: object = (),
    rerank_depth: int = 20,
    rerank_then_by_first: bool = False,
    confirm: Callable[[str], bool] | None = None,
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
        Where cases have no domain or category, `ontology` gives them (:meth:`Cases.labelled`).
        By default the report in `output` shows each column that has labels, and the screen none.
    ontology : Ontology or path, optional
        MaxRel then uses its judgments: the highest similarity of a retrieved document to an expected one.
    kind : str, default "lin"
        The kind of similarity; without an ontology it is not used.
    synonyms : {"exact", "all", "none"}, default "exact"
        Which synonyms count, as for :func:`read_collection`; a `Collection` has made the choice already.
    texts, original, candidates, collection_language
        Tables of translated names, what becomes of the names of the ontology, whether names that nobody has accepted
        yet count, and the language of the documents, as `texts`, `original`, `candidates` and `language` of
        :func:`read_collection`.
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
    rerankers : mapping of str to reranker, sequence of rerankers, or one, optional
        Each grades the first documents of each retriever, which is compared with and without it: a function
        ``grade(query, text)``, "module:function", "cross-encoder:MODEL" of sentence-transformers, or an `LLM`. Answers
        without a grade are counted in the report.
    rerank_depth : int, default 20
        How many documents are graded; those that tie with the last of them as well. Without rerankers it is not used.
    rerank_then_by_first : bool, default False
        Whether documents of equal grade are in the order of the retriever's scores; else they tie.
    confirm : callable, optional
        Asked before language models are called, with a line that says how often; bench ends if it returns False.
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
        Cases or collection cannot be used, or do not share ids; no answer of a reranker holds a grade; or `output`
        holds files of these names that `bench` did not write, or is in use by another call.
    """
    k = as_count("k", k)
    check_choice("kind", kind, KINDS)
    if margin is not None:
        as_positive("margin", margin)
    check_cluster(cluster)
    chosen = measures_of(measures, at, has_ontology=ontology is not None)
    check_depth(chosen, k)
    with _told() as confused:  # a file named like a retriever; warnings of libraries while they load are not passed on
        own = make_retrievers(retrievers)
    systems = reranked(own, rerankers or (), rerank_depth, then_by_first=rerank_then_by_first)
    design = Design.of(locals(), rng=_seed(rng))
    names = list(systems)
    if baseline is not None:
        check_choice("baseline", baseline, names)
    # a single retriever is not compared
    design.check_systems(names if len(names) > 1 else [*names, ""], has_clusters=cluster is not None)
    parts = parts_of(cases, limit)
    check_by(by if ontology is None else (), parts)  # an ontology may have labels
    _check_parts(parts, systems, cluster)
    _confirm(parts, systems, confirm)
    tell = progress or (lambda _: None)
    documents, terms = _read(
        collection,
        ontology,
        tell,
        synonyms=synonyms,
        texts=texts,
        original=original,
        candidates=candidates,
        language=collection_language,
    )
    parts, cells = split_cells(parts, documents)
    parts, assumed = labelled(parts, terms)
    graded = [one for one in chosen if terms is not None and isinstance(one, MaxRel)]
    spoken, is_guess = _spoken(documents, parts)
    languages = dict.fromkeys(part.language for part in parts)
    settings = BenchSettings(
        collection=documents.name,
        spoken=spoken,
        is_guess=is_guess,
        assumed=assumed,
        n_documents=len(documents.ids),
        k=k,
        measures=chosen,
        design=design,
        cluster=cluster,
        limit=limit,
        ontology=None if terms is None else terms.summary,
        kind=kind,
        by=check_by(by, parts),
        systems={name: described(one) for name, one in systems.items()},
        margin=margin,
        words={
            name: group_values((one.words_in(None if own == NONE else own), own) for own in languages)
            for name, one in systems.items()
            if isinstance(one, BM25)
        },
        english={
            name
            for name, one in systems.items()
            if isinstance(one, BM25)
            and all(one.in_language(None if own == NONE else own).is_english for own in languages)
        },
    )
    notes: list[Warning | str] = [
        *confused,
        *notes_of_phrases(systems, parts),
        *map(NoteWarning, (*cells, *documents.notes, *check_expected(parts, documents, terms if graded else None))),
        *(
            map(NoteWarning, ["margin changes no value: no set has cases that a pair_id pairs"])
            if margin is not None and not families_of(parts)[0]
            else ()
        ),
    ]
    if terms is not None and not graded:
        notes.append(_note_unused_ontology(chosen, k))
    chance = _chance(parts, terms, graded, kind)
    store = None if output is None else Store(output, limit)
    with nullcontext() if store is None else store.held(parts, systems, k):
        evaluations: dict[Key, Evaluation] = {}
        failures: dict[Key, tuple[Failure, ...]] = {}
        called: dict[tuple[str, str], dict[str, str]] = {}
        answers: dict[Key, GradedAnswers | None] = {}
        for key, part, searched in search_parts(systems, parts, documents, k, store, tell=tell):
            answers[key] = searched.answers
            labels = documents.labels(part.language)
            notes += notes_of_run(key, part, searched, documents)
            failures[key] = failures_of(part.cases.cases, searched.run, labels)
            called.setdefault(part.key, {}).update(names_of(part.cases.cases, searched.run, labels))
            evaluations[key], told = evaluate_part(
                part, searched.run, chosen, name=key.retriever, ontology=terms, kind=kind
            )
            notes += told
        once = {str(note): note for note in notes}
        result = BenchResult(
            evaluations=evaluations,
            comparisons={
                part.key: assemble(
                    {key.retriever: one for key, one in evaluations.items() if key[:2] == part.key},
                    design,
                    part.clusters(cluster),
                    None,
                    {},
                )
                for part in (parts if len(systems) > 1 else ())
            },
            parts={part.key: part for part in parts},
            retrievers=tuple(systems),
            settings=settings,
            chance=chance,
            verbatim={part.key: count_verbatim(part, documents) for part in parts},
            failures=failures,
            names=called,
            answers={key: one for key, one in answers.items() if one is not None},
            notes=tuple(once),
        )
        for note in once.values():
            warnings.warn(note, stacklevel=2)
        if store is not None:
            store.finish(result, documents, systems)
    return result


def measures_of(given: Measures, at: Sequence[int] | None, *, has_ontology: bool) -> tuple[Measure, ...]:
    """Return the given measures, or the defaults at some cutoffs."""
    cutoffs = sorted(set(as_cutoffs(CUTOFFS if at is None else at)))
    if not cutoffs:
        raise ParameterError(argument="at", given=at, allowed="at least one cutoff")
    if given is not None and at is not None:
        raise ParameterError(
            "sets the cutoffs of the default measures, not of those that are named",
            argument="at",
            given=tuple(cutoffs),
            hint="write nDCG@20",
        )
    kinds: list[Measure] = [Hit(), nDCG(), R(), P(), AP(norm="min"), *([MaxRel()] if has_ontology else [])]
    return parse_measures(given) if given is not None else (RR(), *(kind @ at_k for kind in kinds for at_k in cutoffs))


def check_depth(measures: Iterable[Measure], k: int) -> None:
    """Raise `ParameterError` if a measure looks deeper than retrievers are asked for."""
    deepest = max(measures, key=cutoff_of)
    if cutoff_of(deepest) > k:
        raise ParameterError(
            argument="k",
            given=k,
            allowed=f"{cutoff_of(deepest)} or more, as {deepest} looks at {cutoff_of(deepest)} documents",
        )


@contextmanager
def _told() -> Iterator[list[Warning | str]]:
    """Collect the warnings of deadheat, and nothing of libraries."""
    found: list[Warning | str] = []
    with warnings.catch_warnings(record=True, action="always", category=DeadheatWarning) as caught:
        yield found
    found += [one.message for one in caught if issubclass(one.category, DeadheatWarning)]


def _note_unused_ontology(measures: Sequence[Measure], k: int) -> NoteWarning:
    as_deep = MaxRel(cutoff=max(map(cutoff_of, measures)) or min(k, 10))
    return NoteWarning(f"the ontology changes no value: only MaxRel uses it; add {as_deep} to the measures")


def evaluate_part(
    part: CaseGroup,
    found: pl.DataFrame,
    measures: Sequence[Measure],
    *,
    name: str,
    ontology: Ontology | None = None,
    kind: str = "lin",
) -> tuple[Evaluation, list[Warning | str]]:
    """Evaluate a run on the cases of a part.

    Returns
    -------
    evaluation : Evaluation
        With an ontology, MaxRel uses its judgments of the retrieved documents, all else the expected ids.
    notes : list of Warning
        Warnings of the ontology about retrieved ids.
    """
    qrels = part.cases.qrels()
    if found.is_empty():  # its MaxRel is 0 on any judgments
        return _of_nothing(qrels, measures, name), []
    run = Run(found, name=name)
    plain = evaluate_under(Conventions(), qrels, run, measures)
    measures = [one for one in measures if ontology is not None and isinstance(one, MaxRel)]
    if ontology is None or not measures:
        return plain, []
    with _told() as notes:
        warnings.simplefilter("ignore", UnknownExpectedWarning)  # reported once, before the first search
        judged = ontology.judge(qrels, run, kind=kind, ideal=False)  # MaxRel reads only what was retrieved
    graded = evaluate_under(Conventions(), judged, run, measures)
    scores = {one.measure: one for one in (*plain, *graded)}.values()
    return Evaluation(scores, **plain.parts() | {"graded": graded.placements, "qrels": qrels}), notes


def _of_nothing(qrels: Qrels, measures: Sequence[Measure], name: str) -> Evaluation:
    """Evaluate a run without any document, which no reader accepts: every ranking is empty."""
    queries, codes, relevance = qrels.in_order
    ids = np.array(queries["query_id"].to_list(), dtype=object)
    none = np.zeros(0, np.int64)
    placements = build_placements(
        RetrievedLists(ids, np.zeros(len(ids), np.int64)),
        PlacedRows(none, np.zeros(0, dtype=object), np.zeros(0), none, none),
        judged_query=codes,
        judged_relevance=relevance,
    )
    return Evaluation(
        [Scores(one, ids, one.mean(placements), TieSpread(one, placements)) for one in measures],
        name=name,
        query_ids=ids,
        conventions=Conventions(),
        missing_queries=tuple(ids.tolist()),
        placements=placements,
        qrels=qrels,
    )


def _seed(rng: Rng) -> int:
    """Return a seed, drawn if none was given, so that intervals in tables and files agree."""
    number = as_integer(rng)
    return int(random_generator(rng).integers(1 << 32)) if number is None or number < 0 else number


def _check_parts(
    parts: Sequence[CaseGroup], systems: Mapping[str, System], cluster: str | Mapping[str, object] | None
) -> None:
    """Refuse columns without labels, keys that JSON cannot hold and run files that lack a part, before any search."""
    for part in parts:
        part.clusters(cluster)
    for system in systems.values():
        identity(system)
        if isinstance(system, RunFile):
            for part in parts:
                query_ids, texts = [case.case_id for case in part.cases], [case.text for case in part.cases]
                system.look_up(query_ids, texts, of=str(part))


def _confirm(parts: Sequence[CaseGroup], systems: Mapping[str, System], confirm: Callable[[str], bool] | None) -> None:
    """Ask before language models are called."""
    asked = [one for one in systems.values() if isinstance(one, Reranked) and isinstance(one.grade, LLM)]
    if not asked or confirm is None:
        return
    n = sum(len(part.cases) for part in parts) * sum(one.depth for one in asked)
    names = ", ".join(dict.fromkeys(f"{one.grade!r}" for one in asked))
    if not confirm(f"{format_count(n, 'call')} of {names}, fewer where answers are kept, more where documents tie"):
        raise ParameterError("the calls were not confirmed")


def _read(
    collection: Collection | str | Path,
    ontology: Ontology | str | Path | None,
    tell: Callable[[str], None],
    **options: Any,  # noqa: ANN401 - of read_collection
) -> tuple[Collection, Ontology | None]:
    """Read the documents and the ontology, which may be one file."""
    if options["language"] is not None:
        checked_code("collection_language", options["language"])
    if not isinstance(cast("object", collection), Collection | Ontology | str | Path):
        raise SourceTypeError(argument="collection", found=type(collection).__name__, allowed="a Collection or a path")
    defaults = {name: one.default for name, one in signature(read_collection).parameters.items()}
    late = [f"{name}={value!r}" for name, value in options.items() if value not in (defaults[name], [])]
    if isinstance(collection, Collection) and late:
        raise ParameterError(
            f"{late[0]} is only for a collection that is read here", found="a Collection", hint="give its path"
        )
    for path in dict.fromkeys(str(one) for one in (ontology, collection) if isinstance(one, str | Path)):
        tell(f"reading {path}")
    if ontology is None or isinstance(ontology, Ontology):
        terms = ontology
    else:
        with phase(f"reading {Path(ontology).name}"):
            terms = read_ontology(ontology)
    if isinstance(collection, Collection):
        return collection, terms
    source = terms if terms is not None and str(collection) == str(ontology) else collection
    with (
        phase("reading the collection"),
        warnings.catch_warnings(action="ignore", category=NoteWarning),  # they are notes of the report
    ):
        return read_collection(source, **options), terms


def _spoken(documents: Collection, parts: Sequence[CaseGroup]) -> tuple[tuple[str, ...], bool]:
    """Return the languages of documents, and whether they are a guess: made only if cases have a language at all."""
    if documents.languages or all(part.language == NONE for part in parts):
        return documents.languages, False
    found = likely(documents.texts)
    return ((found,), True) if found else ((), False)


def _chance(
    parts: Sequence[CaseGroup], ontology: Ontology | None, measures: Sequence[Measure], kind: str
) -> dict[tuple[str, str], dict[str, float]]:
    """Return the expected score of a random ranking of all terms, by MaxRel measure that has a cutoff.

    Raises, before anything is searched, if the ontology has none of the expected ids of a part.
    """
    if ontology is None or not measures:
        return {}
    cut = {one.label: cutoff_of(one) for one in measures if cutoff_of(one)}
    # `check_expected` has named the missing ids
    with warnings.catch_warnings(action="ignore", category=UnknownExpectedWarning):
        found = {one.key: ontology.chance(one.cases.qrels(), kind, cutoffs=list(cut.values())) for one in parts}
    return {key: {name: own[k] for name, k in cut.items()} for key, own in found.items()} if cut else {}
