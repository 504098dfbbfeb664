"""bench(): every retriever on every set of cases; and its folder, in which finished runs are found again.

Nothing is half written, and no file of others is replaced. A finished folder can be read: what was evaluated, and the
runs, without the cases they were made of.
"""

import hashlib
import io
import json
import platform
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from importlib import metadata
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from deadheat.benchmark.collection import (
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
from deadheat.benchmark.languages import checked_code, likely
from deadheat.benchmark.ontology import KINDS, Ontology, read_ontology
from deadheat.benchmark.report import cutoff_of, page_of_bench, report_bench, tables_of_page
from deadheat.benchmark.result import BenchResult, BenchSettings, Failure, Key, failures_of, names_of
from deadheat.benchmark.retrievers import (
    BM25,
    LLM,
    Reranked,
    Retriever,
    RunFile,
    System,
    best,
    described,
    identity,
    key_of,
    make_retrievers,
    reranked,
    retrieve,
)
from deadheat.comparison.compare import compare_evaluated
from deadheat.comparison.comparison import assemble
from deadheat.comparison.languages import Languages, languages_of
from deadheat.data.queries import Queries
from deadheat.data.tables import Qrels, Run
from deadheat.errors import (
    DataError,
    DeadheatError,
    DeadheatWarning,
    FileFormatError,
    NoteWarning,
    ParameterError,
    Plain,
    Rng,
    SourceTypeError,
    UnknownExpectedWarning,
    as_count,
    as_cutoffs,
    as_positive,
    check_choice,
    collected,
    counted,
    generator,
    three,
    whole,
)
from deadheat.evaluation.evaluate import evaluate_under, load_evaluation
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.intervals import NONE, cluster_name
from deadheat.evaluation.saved import SAVED, DocumentKind
from deadheat.evaluation.scores import Scores, TieSpread
from deadheat.io.files import MARK, hashed, is_kept, locked, path_named, replacing
from deadheat.measures import AP, RR, Hit, MaxRel, Measure, P, R, nDCG
from deadheat.measures.notation import Measures, parse_measures
from deadheat.placements.placements import sort_rows
from deadheat.report.model import PAGES, REPORTS, Fact, notation_of, plain
from deadheat.report.page import Subject
from deadheat.settings import Conventions, Design

# a screen has room for the short report
REPORTS[BenchResult] = lambda result, *, full=False: report_bench(result, full=full)
PAGES[BenchResult] = page_of_bench

CUTOFFS = (1, 3, 5, 10)
# Part of the key of a finished run. Raise it when one of our retrievers, or `retrieve`, finds something different for
# the same texts, documents and options, so that no outdated run is reused. The version of the package would discard
# runs that a release does not touch, and those of a model take hours. 2: BM25 finds what shares a word, not what scores
# above 0. 3: equal embeddings tie in any batch; bm25+ with k1=0; no NaN is dropped.
SEARCH = 3
ACROSS: dict[str, Callable[[Languages, float | None], pl.DataFrame]] = {
    "across_languages": lambda found, _: found.to_polars(),
    "language_differences": lambda found, margin: found.differences_to_polars(margin),
    "language_interactions": lambda found, _: found.interactions_to_polars(),
}
LONGEST = 60  # bytes of each of the three names in the name of a file, without a hash
FORMAT = 1
BENCH = DocumentKind("deadheat bench", FORMAT, "the summary of a benchmark", "deadheat bench writes one")
RUN = DocumentKind("deadheat bench run", FORMAT, "the description of a run", "deadheat bench writes one")
PACKAGES = ("deadheat", "numpy", "polars", "scipy", "bm25s", "sentence-transformers", "torch")


class Store:
    """The folder of a benchmark.

    ``runs`` holds a Parquet file for each part, retriever and k, and beside it a JSON file with what it was made from;
    ``evaluations`` what `Evaluation.save` writes; ``bench.json`` and ``report.md`` are about the whole. ``bench.lock``
    names the process that is at work.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    limit : int or None
        Results of a limited benchmark have names of their own.
    """

    def __init__(self, folder: str | Path, limit: int | None) -> None:
        self.folder = path_named(folder)
        self.suffix = "" if limit is None else f".limit-{limit}"
        self._report = self.folder / f"report{self.suffix}.md"
        self._summary = self.folder / f"bench{self.suffix}.json"

    @contextmanager
    def held(self, parts: Iterable[CaseGroup], retrievers: Iterable[str], k: int) -> Iterator[None]:
        """Make the folder, and keep other calls out of it.

        Raises
        ------
        DataError
            A file that would be replaced is not ours, another call is at work there, or there is a file where the
            folder should be.
        """
        self._refuse_foreign([Key(*part.key, name) for part in parts for name in retrievers], k)
        try:
            for name in ("runs", "evaluations"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise DataError(
                "cannot be created as a folder: part of its path is a file",
                hint="choose another output",
                path=self.folder,
            ) from None
        with locked(
            self.folder / f"bench{self.suffix}.lock",
            "deadheat bench",
            "wait until it is done, or choose another output folder",
        ):
            yield

    def _refuse_foreign(self, keys: Iterable[Key], k: int) -> None:
        """Raise an error if a file that would be replaced was not written by us: ours have a JSON file beside them."""
        files = [(BENCH, self._summary, self._report)]
        for key in keys:
            run = self.run_of(key, k)
            files.append((RUN, run.with_suffix(".json"), run))
            SAVED.refuse_foreign(self.evaluation_of(key))
        for kind, path, beside in files:
            kind.refuse_foreign(path)
            if beside.exists() and beside.stat().st_size and not path.exists():
                raise DataError(
                    f"is there already without {path.name}, so deadheat bench did not write it: it would be replaced",
                    hint="choose another output folder, or move it away",
                    path=beside,
                )

    def read(self, named: Key, key: Mapping[str, object]) -> pl.DataFrame | None:
        """Return a finished run, if it was made from the same; None if it is still to be made."""
        path = self.run_of(named, key["k"])
        try:
            made = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            data = path.read_bytes()
        except (OSError, ValueError, RecursionError):
            return None
        expected = {"key": json.loads(json.dumps(key)), "sha256": hashlib.sha256(data).hexdigest()}
        is_same = isinstance(made, dict) and expected.items() <= made.items()
        return pl.read_parquet(io.BytesIO(data)) if is_same else None

    def write(self, named: Key, key: Mapping[str, object], run: pl.DataFrame, seconds: float, *, n_cases: int) -> None:
        """Keep a run with what it was made from."""
        path = self.run_of(named, key["k"])
        held = io.BytesIO()
        run.write_parquet(held)
        made = {
            "kind": RUN.kind,
            **named._asdict(),
            "n_cases": n_cases,
            "n_answered": run["query_id"].n_unique(),
            "seconds": round(seconds, 3),
            "sha256": hashlib.sha256(held.getvalue()).hexdigest(),
            "key": key,
        }
        # the JSON is put in place first: no run is ever there without it, and one counts only with the hash in its JSON
        with replacing(path) as file, replacing(path.with_suffix(".json")) as beside:
            file.write(held.getvalue())
            beside.write(_text(made))

    def finish(self, result: BenchResult, documents: Collection, retrievers: Mapping[str, System]) -> None:
        """Write evaluations, report and summary; remove evaluations of the previous call that this one has not made.

        They would be taken for new ones, though their cases may have been corrected since.
        """
        for key, evaluation in result.evaluations.items():
            evaluation.save(self.evaluation_of(key), **vars(result.interval_options(result.parts[key[:2]])))
        summary = summarise(result, documents, retrievers)
        for path in self._evaluations_of(read_summary(self._summary) or {}) - self._evaluations_of(summary):
            with suppress(DataError):  # of someone else by now
                SAVED.refuse_foreign(path)
                path.unlink(missing_ok=True)
        with replacing(self._report) as file, replacing(self._summary) as beside:
            file.write((result.report() + "\n").encode())
            beside.write(_text(summary))

    def _evaluations_of(self, made: Mapping[str, Any]) -> set[Path]:
        """Return the evaluations of which a bench.json is the summary; none of one that cannot be read."""
        try:
            keys = [Key(one["cases"], one["language"], name) for one in made["cases"] for name in made["retrievers"]]
        except (LookupError, TypeError):
            return set()
        return {self.evaluation_of(key) for key in keys}

    def run_of(self, key: Key, k: object) -> Path:
        """Return the file of a run."""
        return self._path("runs", key, f".k{k}.parquet")

    def evaluation_of(self, key: Key) -> Path:
        """Return the file of an evaluation."""
        return self._path("evaluations", key, ".json")

    def _path(self, folder: str, key: Key, ending: str) -> Path:
        return self.folder / folder / f"{'.'.join(map(_slug, key))}{self.suffix}{ending}"


def read_summary(path: Path) -> dict[str, Any] | None:
    """Return the content of a bench.json; None if there is none, or none that can be read."""
    try:
        made: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return made if isinstance(made, dict) and made.get("kind") == BENCH.kind else None


def summary_of(folder: str | Path) -> tuple[Path, dict[str, Any]] | None:
    """Return the summary of a folder with its path: of a whole benchmark, else of a limited one; None without any."""
    paths = (Path(folder, "bench.json"), *sorted(Path(folder).glob("bench.limit-*.json")))
    return next(((path, made) for path in paths if (made := read_summary(path)) is not None), None)


def read_finished(
    folder: str | Path,
) -> tuple[list[Subject], dict[str, str], list[Languages], float | None, list[Fact]]:
    """Read what a benchmark has left in its folder, for a page.

    Returns
    -------
    list of Subject
        The sets of cases, each language by itself; with the runs if all are still there.
    dict of str to str
        What each file of a run is.
    list of Languages
        The languages whose cases it paired, compared.
    float or None
        Its margin of equivalence.
    list of Fact
        What its report says below the tables.

    Raises
    ------
    DataError
        It is no such folder, an evaluation is missing or damaged, or cases were resampled in clusters, which the folder
        does not keep.
    """
    found = summary_of(folder)
    if found is None:
        raise DataError("holds no bench.json of deadheat bench", path=folder)
    path, made = found
    if made.get("cluster") is not None:
        raise DataError(
            f"its cases were resampled by {made['cluster']}, which the folder does not keep",
            hint="call dh.bench() again with the same output: it takes up its results; then .to_html(full=True)",
            path=folder,
        )
    try:
        design, store = Design.of(made["design"]), Store(folder, made["limit"])
        subjects = {(case["cases"], case["language"]): _subject_of(case, made, design, store) for case in made["cases"]}
        languages = [
            languages_of(
                {language: subjects[cases, language].evaluations for language, cases in family["cases"].items()},
                family["pairs"],
                design=design,
                name=family["name"],
            )
            for family in made["families"]
        ]
        facts = [Fact("", None, heading, text, is_warning) for heading, text, is_warning in made["facts"]]
        roles = {
            str(path): f"run of {name}"
            for (cases, language), name in product(subjects, made["retrievers"])
            if (path := store.run_of(Key(cases, language, name), made["k"])).is_file()
        }
    except DeadheatError:
        raise
    # a value of a wrong type shows where it is used, perhaps as late as in a comparison
    except (LookupError, TypeError, AttributeError, ValueError, pl.exceptions.PolarsError) as error:
        raise FileFormatError(
            f"is damaged: {error!r:.80}",
            allowed="bench.json as written",
            hint="call deadheat bench again, which takes up its finished runs",
            path=path,
        ) from error
    return list(subjects.values()), roles, languages, made.get("margin"), facts


def _subject_of(case: Mapping[str, Any], made: Mapping[str, Any], design: Design, store: Store) -> Subject:
    """Return what a bench.json says of a part, with its evaluations compared, and with its runs if all are there."""
    cases, language, by = case["cases"], case["language"], tuple(made["by"])
    evaluations = {
        name: load_evaluation(store.evaluation_of(Key(cases, language, name))) for name in made["retrievers"]
    }
    runs = {name: store.run_of(Key(cases, language, name), made["k"]) for name in evaluations}
    comparison = compare_evaluated(design, evaluations) if len(evaluations) > 1 else None
    rows = [dict(one) for one in case["queries"]]
    queries = Queries(pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String)))
    failures = collected(
        (one["retriever"], Failure.of_dict(one))
        for one in made["failures"]
        if (one["cases"], one["language"]) == (cases, language)
    )
    qrels = cases if language == NONE else f"{cases} ({language})"
    return Subject(
        name=qrels if len(made["cases"]) > 1 else "",
        evaluations=evaluations,
        comparison=comparison,
        queries=queries,
        groupings=(by,) if by and set(by) <= set(queries.columns) else (),
        names=dict(case["names"]),
        tables=tables_of_page(
            qrels, comparison, case["n_cases"], {name: failures.get(name, ()) for name in evaluations}
        ),
        runs={name: Run(path, name=name) for name, path in runs.items()}
        if all(map(Path.is_file, runs.values()))
        else {},
        qrels=qrels,
    )


def _slug(name: str) -> str:
    """Return a name that files may have; two names never become the same.

    Examples
    --------
    >>> _slug("hpo-de"), _slug("a/b") == _slug("a_b"), _slug("bm25(k1=1.2)")
    ('hpo-de', False, 'bm25_k1=1_2-9bfe14db')
    """
    plain = re.sub(r"[^\w=-]+", "_", name).strip("_")
    # files that differ in upper case only are one file on some systems
    if plain == name == name.lower() and is_kept(name) and len(name.encode()) <= LONGEST:
        return name
    return hashed(plain, name, LONGEST + MARK)


def _text(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def summarise(result: BenchResult, documents: Collection, retrievers: Mapping[str, System]) -> dict[str, Any]:
    """Return settings, versions, fingerprints and results; the same for the same work, interrupted or not."""
    settings, margin, across = result.settings, result.settings.margin, result.across.items()
    return {
        "kind": BENCH.kind,
        "format": FORMAT,
        "versions": {"python": platform.python_version(), **dict(_versions())},
        "collection": {
            "name": documents.name,
            "n_documents": len(documents.ids),
            "fingerprint": documents.fingerprint,
            "languages": list(settings.spoken),
            "language_is_guess": settings.is_guess,
        },
        "cases": [
            {
                "cases": name,
                "language": language,
                "n_cases": len(part.cases),
                "n_verbatim": result.verbatim[name, language],
                "fingerprint": part.judged,
                "queries": part.cases.queries().to_dicts(),
                "names": dict(result.names.get(part.key, {})),
            }
            for (name, language), part in result.parts.items()
        ],
        "retrievers": {name: json.loads(identity(one)) for name, one in retrievers.items()},
        "k": settings.k,
        "limit": settings.limit,
        "measures": list(map(str, settings.measures)),
        "by": list(settings.by),
        "ontology": settings.ontology,
        "similarity": settings.kind if settings.ontology else None,
        "design": dict(vars(settings.design)),
        "cluster": cluster_name(settings.cluster),
        "notes": list(result.notes),
        "results": _rows(result, result.to_polars()),
        "comparisons": [
            {"cases": name, "language": language, **row}
            for (name, language), comparison in result.comparisons.items()
            for row in _rows(result, comparison.to_polars(details=True))
        ],
        "averages": _rows(result, result.averages()),
        "margin": margin,
        "families": [
            {
                "name": family.name,
                "cases": {language: part.name for language, part in family.parts.items()},
                "pairs": family.pairs,
            }
            for family in result.families
        ],
        **{
            key: [{"cases": name, **row} for name, one in across for row in _rows(result, frame_of(one, margin))]
            for key, frame_of in ACROSS.items()
        },
        "failures": result.failed(),
        "facts": [[one.heading, one.text, one.is_warning] for one in report_bench(result).shown],
    }


def _rows(result: BenchResult, frame: pl.DataFrame) -> list[dict[str, object]]:
    """Return rows as JSON holds them: an effect is infinite where all differences are the same."""
    names = {one.label: notation_of(one.label) for one in result.measures}
    return [
        {**{name: plain(cell) for name, cell in row.items()}, **names[row["measure"]]}
        for row in frame.iter_rows(named=True)
    ]


def _versions() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            yield package, metadata.version(package)


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
    correction: str = "holm",
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
        ``grade(query, text)``, "module:function", "cross-encoder:MODEL" of sentence-transformers, or an `LLM`.
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
        Cases or collection cannot be used, or do not share ids; or `output` holds files of these names that `bench`
        did not write, or is in use by another call.
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
        ontology=None if terms is None else repr(terms).strip("<>"),
        kind=kind,
        by=check_by(by, parts),
        systems={name: described(one) for name, one in systems.items()},
        margin=margin,
        words={name: found for name, one in systems.items() if (found := _words(one, parts))},
    )
    notes: list[Warning | str] = [
        *confused,
        *map(NoteWarning, (*cells, *documents.notes, *check_expected(parts, documents, terms if graded else None))),
        *(
            map(NoteWarning, ["margin changes no value: no set has cases that a pair_id pairs"])
            if margin is not None and not families_of(parts)[0]
            else ()
        ),
    ]
    if terms is not None and not graded:
        as_deep = MaxRel(cutoff=max(map(cutoff_of, chosen)) or min(k, 10))
        notes.append(NoteWarning(f"the ontology changes no value: only MaxRel uses it; add {as_deep} to the measures"))
    chance = _chance(parts, terms, graded, kind)
    store = None if output is None else Store(output, limit)
    with nullcontext() if store is None else store.held(parts, systems, k):
        evaluations: dict[Key, Evaluation] = {}
        failures: dict[Key, tuple[Failure, ...]] = {}
        called: dict[tuple[str, str], dict[str, str]] = {}
        for key, part, run in _search(systems, parts, documents, k, store, tell=tell):
            labels = documents.labels(part.language)
            if unknown := sorted(set(run["doc_id"].to_list()) - labels.keys()):
                notes.append(
                    NoteWarning(
                        f"{key.retriever} found {len(unknown):,} documents that {documents.name} does not have"
                        f" ({three(unknown)}): are the ids written alike?"
                    )
                )
            failures[key] = failures_of(part.cases.cases, run, labels)
            called.setdefault(part.key, {}).update(names_of(part.cases.cases, run, labels))
            evaluations[key], told = evaluate_part(part, run, chosen, name=key.retriever, ontology=terms, kind=kind)
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
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DeadheatWarning)
        yield found
    found += [one.message for one in caught if issubclass(one.category, DeadheatWarning)]


class _Searches:
    """What retrievers found in a collection: each indexes it once, and searches once for each part and depth.

    Retrievers are told apart by id(), as objects of users need not have a hash.
    """

    def __init__(self, documents: Collection, tell: Callable[[str], None]) -> None:
        self._documents, self._tell = documents, tell
        self._indexed: set[int] = set()
        self._found: dict[tuple[int, tuple[str, str], int], pl.DataFrame] = {}

    def keep(self, retriever: Retriever, part: CaseGroup, k: int, found: pl.DataFrame) -> None:
        """Take what a retriever found before, for its rerankers."""
        self._found[id(retriever), part.key, k] = found

    def index(self, retriever: Retriever, part: CaseGroup, k: int, name: str) -> None:
        """Let a retriever take the documents, if it has to search and has none yet."""
        if id(retriever) not in self._indexed and (id(retriever), part.key, k) not in self._found:
            self._tell(f"{name} takes {len(self._documents):,} documents of {self._documents.name}")
            retriever.index(self._documents)
            self._indexed.add(id(retriever))

    def of(
        self, retriever: Retriever, part: CaseGroup, k: int, query_ids: Sequence[str], texts: Sequence[str]
    ) -> pl.DataFrame:
        """Return what a retriever finds for the cases of a part, which have these ids and texts."""
        key = id(retriever), part.key, k
        if key not in self._found:
            self._found[key] = retrieve(retriever, query_ids, texts, k)
        return self._found[key]


def _search(
    systems: Mapping[str, System],
    parts: Sequence[CaseGroup],
    documents: Collection,
    k: int,
    store: Store | None,
    *,
    tell: Callable[[str], None],
) -> Iterator[tuple[Key, CaseGroup, pl.DataFrame]]:
    """Yield the run of each retriever on each part: one that is in the store, or a new one, which is put there."""
    searches = _Searches(documents, tell)
    for (name, system), part in product(systems.items(), parts):
        named = Key(*part.key, name)
        language = None if part.language == NONE else part.language
        retriever = system.in_language(language) if isinstance(system, BM25 | Reranked) else system
        has_key = key_of(retriever) is not None  # without one we cannot know whether it is still the same
        key = {
            "search": SEARCH,
            "retriever": json.loads(identity(retriever)) if has_key else None,
            "collection": documents.fingerprint,
            "cases": part.searched,
            "k": k,
        }
        found = store.read(named, key) if store is not None and has_key else None
        if found is not None:
            tell(f"{name} on {part}: finished before")
            if not isinstance(retriever, Reranked):
                searches.keep(retriever, part, k, found)
            yield named, part, found
            continue
        first, deep = (retriever.first, max(k, retriever.depth)) if isinstance(retriever, Reranked) else (retriever, k)
        searches.index(first, part, deep, name)
        start = time.perf_counter()
        query_ids, texts = [case.case_id for case in part.cases], [case.text for case in part.cases]
        found = searches.of(first, part, deep, query_ids, texts)
        if isinstance(retriever, Reranked):
            found = best(retriever.regrade(found, query_ids, texts, documents), query_ids, k)
        seconds = time.perf_counter() - start
        if store is not None:
            store.write(named, key, found, seconds, n_cases=len(part.cases))
        tell(f"{name} on {part}: {counted(len(part.cases), 'search', 'searches')} in {seconds:.1f} s")
        yield named, part, found


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
    placements = sort_rows(
        ids,
        np.zeros(len(ids), np.int64),
        judged_query=codes,
        judged_relevance=relevance,
        rows=(none, np.zeros(0, dtype=object), np.zeros(0), none, none),
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
    number = whole(rng)
    return int(generator(rng).integers(1 << 32)) if number is None or number < 0 else number


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
                system.look_up([case.case_id for case in part.cases], of=str(part))


def _confirm(parts: Sequence[CaseGroup], systems: Mapping[str, System], confirm: Callable[[str], bool] | None) -> None:
    """Ask before language models are called."""
    asked = [one for one in systems.values() if isinstance(one, Reranked) and isinstance(one.grade, LLM)]
    if not asked or confirm is None:
        return
    n = sum(len(part.cases) for part in parts) * sum(one.depth for one in asked)
    names = ", ".join(dict.fromkeys(f"{one.grade!r}" for one in asked))
    if not confirm(f"{counted(n, 'call')} of {names}, fewer where answers are kept, more where documents tie"):
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
        raise SourceTypeError(
            argument="collection", given=Plain(type(collection).__name__), allowed="a Collection or a path"
        )
    defaults = {name: one.default for name, one in signature(read_collection).parameters.items()}
    late = [f"{name}={value!r}" for name, value in options.items() if value not in (defaults[name], [])]
    if isinstance(collection, Collection) and late:
        raise ParameterError(
            f"{late[0]} is only for a collection that is read here", given=Plain("a Collection"), hint="give its path"
        )
    for path in dict.fromkeys(str(one) for one in (ontology, collection) if isinstance(one, str | Path)):
        tell(f"reading {path}")
    terms = ontology if ontology is None or isinstance(ontology, Ontology) else read_ontology(ontology)
    if isinstance(collection, Collection):
        return collection, terms
    source = terms if terms is not None and str(collection) == str(ontology) else collection
    with warnings.catch_warnings(action="ignore", category=NoteWarning):  # they are notes of the report
        return read_collection(source, **options), terms


def _spoken(documents: Collection, parts: Sequence[CaseGroup]) -> tuple[tuple[str, ...], bool]:
    """Return the languages of documents, and whether they are a guess: made only if cases have a language at all."""
    if documents.languages or all(part.language == NONE for part in parts):
        return documents.languages, False
    found = likely(documents.texts)
    return ((found,), True) if found else ((), False)


def _words(retriever: System, parts: Sequence[CaseGroup]) -> dict[str, list[str]]:
    """Return how a retriever takes words, with the languages of the cases that it is so for; empty if it says none."""
    if not isinstance(retriever, BM25):
        return {}
    return collected(
        (retriever.words_in(None if one == NONE else one), one)
        for one in dict.fromkeys(part.language for part in parts)
    )


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
