"""bench(): every retriever on every set of cases, and how they compare."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from deadheat.core.checks import as_count, as_cutoffs, as_positive, check_choice
from deadheat.core.design import Design
from deadheat.core.errors import NoteWarning, ParameterError, UnknownExpectedWarning
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.measures import AP, RR, Hit, Measure, P, R, nDCG
from deadheat.core.measures.notation import Measures, parse_measures
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.report.model import PAGES, Report, registers_report
from deadheat.core.scalars import as_integer
from deadheat.core.structures import group_values
from deadheat.core.wording import format_count
from deadheat.plugins.bench.case_groups import (
    CaseGroup,
    check_by,
    check_cluster,
    check_expected,
    count_verbatim,
    label_parts,
    split_cells,
    split_into_parts,
)
from deadheat.plugins.bench.collection import Collection
from deadheat.plugins.bench.evaluating import collect_warnings, evaluate_searches
from deadheat.plugins.bench.families import find_families
from deadheat.plugins.bench.inputs import BenchInputs, languages_of_documents, read_documents
from deadheat.plugins.bench.ontology import KINDS, Ontology
from deadheat.plugins.bench.report import page_of_bench, report_bench
from deadheat.plugins.bench.report_measures import cutoff_of
from deadheat.plugins.bench.result import BenchResult, BenchSettings, Key
from deadheat.plugins.bench.retrievers import (
    BM25,
    LLM,
    Reranked,
    RunFile,
    System,
    described,
    identity,
    make_retrievers,
    reranked,
)
from deadheat.plugins.bench.searching import notes_of_phrases
from deadheat.plugins.bench.store import Store
from deadheat.plugins.compare.comparison import Comparison, assemble
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
    chosen_measures = measures_of(measures, at, has_ontology=ontology is not None)
    check_depth(chosen_measures, k)

    # a file named like a retriever; warnings of libraries while they load are not passed on
    with collect_warnings() as notes_on_names:
        retrievers_by_name = make_retrievers(retrievers)
    systems = reranked(retrievers_by_name, rerankers or (), rerank_depth, then_by_first=rerank_then_by_first)
    design = Design.of(
        {},
        baseline=baseline,
        test=test,
        correction=correction,
        alternative=alternative,
        method=method,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        rng=_seed(rng),
    )
    if baseline is not None:
        check_choice("baseline", baseline, list(systems))
    if len(systems) > 1:  # a single retriever is not compared
        names_to_compare = list(systems)
    else:
        names_to_compare = [*systems, ""]
    design.check_systems(names_to_compare, has_clusters=cluster is not None)

    parts = split_into_parts(cases, limit)
    check_by(by if ontology is None else (), parts)  # an ontology may have labels
    _check_parts(parts, systems, cluster)
    _confirm(parts, systems, confirm)
    tell = progress or _tell_nobody
    documents, terms = read_documents(
        collection,
        ontology,
        tell,
        synonyms=synonyms,
        texts=texts,
        original=original,
        candidates=candidates,
        language=collection_language,
    )
    parts, notes_on_cells = split_cells(parts, documents)
    parts, assumed = label_parts(parts, terms)
    inputs = BenchInputs(
        systems=systems,
        parts=parts,
        documents=documents,
        ontology=terms,
        kind=kind,
        measures=chosen_measures,
        k=k,
    )
    settings = _settings_of(inputs, design=design, cluster=cluster, limit=limit, by=by, margin=margin, assumed=assumed)
    notes = [*notes_on_names, *_notes_before_search(inputs, notes_on_cells, margin)]
    chance = _chance(inputs)

    store = None if output is None else Store(output, limit)
    with nullcontext() if store is None else store.held(parts, systems, k):
        runs = evaluate_searches(inputs, store, tell)
        notes += runs.notes
        note_by_text = {str(note): note for note in notes}
        result = BenchResult(
            evaluations=runs.evaluations,
            comparisons=_compare_parts(inputs, runs.evaluations, design, cluster),
            parts={part.key: part for part in parts},
            retrievers=tuple(systems),
            settings=settings,
            chance=chance,
            verbatim={part.key: count_verbatim(part, documents) for part in parts},
            failures=runs.failures,
            names=runs.names,
            answers=runs.answers,
            notes=tuple(note_by_text),
        )
        for note in note_by_text.values():
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


def _seed(rng: Rng) -> int:
    """Return a seed, drawn if none was given, so that intervals in tables and files agree."""
    number = as_integer(rng)
    return int(random_generator(rng).integers(1 << 32)) if number is None or number < 0 else number


def _confirm(parts: Sequence[CaseGroup], systems: Mapping[str, System], confirm: Callable[[str], bool] | None) -> None:
    """Ask before language models are called."""
    asked = [one for one in systems.values() if isinstance(one, Reranked) and isinstance(one.grade, LLM)]
    if not asked or confirm is None:
        return
    n = sum(len(part.cases) for part in parts) * sum(one.depth for one in asked)
    names = ", ".join(dict.fromkeys(f"{one.grade!r}" for one in asked))
    if not confirm(f"{format_count(n, 'call')} of {names}, fewer where answers are kept, more where documents tie"):
        raise ParameterError("the calls were not confirmed")


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
                query_ids = [case.case_id for case in part.cases]
                texts = [case.text for case in part.cases]
                system.look_up(query_ids, texts, of=str(part))


def _tell_nobody(line: str) -> None:
    """Drop a line about progress, where nobody asked for it."""


def _settings_of(
    inputs: BenchInputs,
    *,
    design: Design,
    cluster: str | Mapping[str, object] | None,
    limit: int | None,
    by: str | Sequence[str],
    margin: float | None,
    assumed: tuple[str, ...],
) -> BenchSettings:
    """Return how a benchmark is made, for its reports."""
    spoken, is_guess = languages_of_documents(inputs.documents, inputs.parts)
    columns = check_by(by, inputs.parts)
    words: dict[str, dict[str, list[str]]] = {}
    english: set[str] = set()
    codes = {part.language: part.language_code for part in inputs.parts}
    for name, system in inputs.systems.items():
        if not isinstance(system, BM25):
            continue
        words[name] = group_values((system.words_in(code), language) for language, code in codes.items())
        if all(system.in_language(code).is_english for code in codes.values()):
            english.add(name)
    return BenchSettings(
        collection=inputs.documents.name,
        spoken=spoken,
        is_guess=is_guess,
        assumed=assumed,
        n_documents=len(inputs.documents.ids),
        k=inputs.k,
        measures=inputs.measures,
        design=design,
        cluster=cluster,
        limit=limit,
        ontology=None if inputs.ontology is None else inputs.ontology.summary,
        kind=inputs.kind,
        by=columns,
        systems={name: described(system) for name, system in inputs.systems.items()},
        margin=margin,
        words=words,
        english=english,
    )


def _notes_before_search(
    inputs: BenchInputs, notes_on_cells: Iterable[str], margin: float | None
) -> list[Warning | str]:
    """Return what is odd in cases, documents and options, before anything is searched."""
    notes: list[Warning | str] = []
    notes += notes_of_phrases(inputs.systems, inputs.parts)
    notes += map(NoteWarning, notes_on_cells)
    notes += map(NoteWarning, inputs.documents.notes)
    is_ontology_used = bool(inputs.graded_measures)
    expected_in = inputs.ontology if is_ontology_used else None
    notes += map(NoteWarning, check_expected(inputs.parts, inputs.documents, expected_in))
    if margin is not None and not find_families(inputs.parts):
        notes.append(NoteWarning("margin changes no value: no set has cases that a pair_id pairs"))
    if inputs.ontology is not None and not is_ontology_used:
        deepest = max(map(cutoff_of, inputs.measures)) or min(inputs.k, 10)
        unused = "the ontology changes no value: only MaxRel uses it"
        notes.append(NoteWarning(f"{unused}; add {MaxRel(cutoff=deepest)} to the measures"))
    return notes


def _chance(inputs: BenchInputs) -> dict[tuple[str, str], dict[str, float]]:
    """Return the expected score of a random ranking of all terms, by part and by MaxRel measure that has a cutoff.

    Raises, before anything is searched, if the ontology has none of the expected ids of a part.
    """
    if inputs.ontology is None or not inputs.graded_measures:
        return {}
    cutoffs: dict[str, int] = {}
    for measure in inputs.graded_measures:
        if cutoff_of(measure):
            cutoffs[measure.label] = cutoff_of(measure)
    chance_by_part: dict[tuple[str, str], dict[str, float]] = {}
    # `check_expected` has named the missing ids
    with warnings.catch_warnings(action="ignore", category=UnknownExpectedWarning):
        for part in inputs.parts:
            by_cutoff = inputs.ontology.chance(part.cases.qrels(), inputs.kind, cutoffs=list(cutoffs.values()))
            chance_by_part[part.key] = {label: by_cutoff[cutoff] for label, cutoff in cutoffs.items()}
    if not cutoffs:
        return {}
    return chance_by_part


def _compare_parts(
    inputs: BenchInputs,
    evaluations: Mapping[Key, Evaluation],
    design: Design,
    cluster: str | Mapping[str, object] | None,
) -> dict[tuple[str, str], Comparison]:
    """Compare the retrievers on each part; a single retriever is not compared."""
    if len(inputs.systems) == 1:
        return {}
    comparisons: dict[tuple[str, str], Comparison] = {}
    for part in inputs.parts:
        evaluations_of_part = {name: evaluations[Key(*part.key, name)] for name in inputs.systems}
        clusters = part.clusters(cluster)
        comparisons[part.key] = assemble(evaluations_of_part, design, clusters, queries=None, by_doc_id={})
    return comparisons
