"""The folder of a benchmark: finished runs are found again in it, and what was evaluated can be read.

Nothing is half written, and no file of others is replaced. A finished folder can be read without the cases that its
runs were made of.
"""

import hashlib
import io
import json
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import metadata
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

from deadheat.core import hooks
from deadheat.core.data.queries import Queries
from deadheat.core.data.run import Run
from deadheat.core.design import Design
from deadheat.core.errors import DataError, DeadheatError, FileFormatError
from deadheat.core.evaluation.documents import DocumentKind
from deadheat.core.evaluation.intervals import cluster_name
from deadheat.core.evaluation.open_evaluations import load_evaluation
from deadheat.core.evaluation.saved import SAVED
from deadheat.core.evaluation.stratum import NONE
from deadheat.core.io.file_names import HASH_BYTES, append_hash, is_portable
from deadheat.core.io.files import check_path
from deadheat.core.io.locks import hold_lock
from deadheat.core.io.pages import read_table
from deadheat.core.io.writing import replace_file
from deadheat.core.report.cells import plain
from deadheat.core.report.model import Fact, notation_of
from deadheat.core.structures import group_values
from deadheat.plugins.bench.case_groups import CaseGroup
from deadheat.plugins.bench.collection import Collection
from deadheat.plugins.bench.report import report_bench, tables_of_page
from deadheat.plugins.bench.result import BenchResult, Failure, Key
from deadheat.plugins.bench.retrievers import GradedAnswers, System, identity
from deadheat.plugins.compare.compare import compare_evaluated
from deadheat.plugins.languages.across import Languages
from deadheat.plugins.languages.beside import LanguagesBeside
from deadheat.plugins.languages.comparing import languages_of

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
    keeps other calls out.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    limit : int or None
        Results of a limited benchmark have names of their own.
    """

    def __init__(self, folder: str | Path, limit: int | None) -> None:
        self.folder = check_path(folder)
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
        with hold_lock(
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

    def read(self, named: Key, key: Mapping[str, object]) -> tuple[pl.DataFrame, GradedAnswers | None] | None:
        """Return a finished run and the answers of its reranker, if it was made from the same; None if it is not."""
        path = self.run_of(named, key["k"])
        try:
            made = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            data = path.read_bytes()
        except (OSError, ValueError, RecursionError):
            return None
        expected = {"key": json.loads(json.dumps(key)), "sha256": hashlib.sha256(data).hexdigest()}
        if not isinstance(made, dict) or not expected.items() <= made.items():
            return None
        answers = None
        if "answers" in made:
            answers = GradedAnswers.of_dict(made["answers"])
            if answers is None:
                return None
        return read_table(data, path), answers

    def write(
        self,
        named: Key,
        key: Mapping[str, object],
        run: pl.DataFrame,
        seconds: float,
        *,
        n_cases: int,
        answers: GradedAnswers | None = None,
    ) -> None:
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
        if answers is not None:
            made["answers"] = answers.to_dict()
        # the JSON is put in place first: no run is ever there without it, and one counts only with the hash in its JSON
        with replace_file(path) as file, replace_file(path.with_suffix(".json")) as beside:
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
        with replace_file(self._report) as file, replace_file(self._summary) as beside:
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
) -> tuple[list[Any], dict[str, str], list[LanguagesBeside], float | None, list[Fact]]:
    """Read what a benchmark has left in its folder, for a page.

    Returns
    -------
    list
        What a page is of, each a `Subject` of the plugin ``page``: the sets of cases, each language by itself; with the
        runs if all are still there.
    dict of str to str
        What each file of a run is.
    list of LanguagesBeside
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
    companions = [LanguagesBeside(one) for one in languages]
    return list(subjects.values()), roles, companions, made.get("margin"), facts


def _subject_of(case: Mapping[str, Any], made: Mapping[str, Any], design: Design, store: Store) -> Any:  # noqa: ANN401 - a Subject of the plugin page
    """Return what a bench.json says of a part, with its evaluations compared, and with its runs if all are there."""
    cases, language, by = case["cases"], case["language"], tuple(made["by"])
    evaluations = {
        name: load_evaluation(store.evaluation_of(Key(cases, language, name))) for name in made["retrievers"]
    }
    runs = {name: store.run_of(Key(cases, language, name), made["k"]) for name in evaluations}
    comparison = compare_evaluated(design, evaluations) if len(evaluations) > 1 else None
    rows = [dict(one) for one in case["queries"]]
    queries = Queries(pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String)))
    failures = group_values(
        (one["retriever"], Failure.of_dict(one))
        for one in made["failures"]
        if (one["cases"], one["language"]) == (cases, language)
    )
    qrels = cases if language == NONE else f"{cases} ({language})"
    return hooks.service("page").Subject(
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
    if plain == name == name.lower() and is_portable(name) and len(name.encode()) <= LONGEST:
        return name
    return append_hash(plain, name, LONGEST + HASH_BYTES)


def _text(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def summarise(result: BenchResult, documents: Collection, retrievers: Mapping[str, System]) -> dict[str, Any]:
    """Return settings, versions, fingerprints and results; the same for the same work, interrupted or not."""
    settings = result.settings
    summary: dict[str, Any] = {"kind": BENCH.kind, "format": FORMAT}
    summary["versions"] = {"python": platform.python_version(), **dict(_versions())}
    summary["collection"] = {
        "name": documents.name,
        "n_documents": len(documents.ids),
        "fingerprint": documents.fingerprint,
        "languages": list(settings.spoken),
        "language_is_guess": settings.is_guess,
    }
    summary["cases"] = _summarise_cases(result)
    summary["retrievers"] = {name: json.loads(identity(retriever)) for name, retriever in retrievers.items()}
    summary["k"] = settings.k
    summary["limit"] = settings.limit
    summary["measures"] = [str(measure) for measure in settings.measures]
    summary["by"] = list(settings.by)
    summary["ontology"] = settings.ontology
    summary["similarity"] = settings.kind if settings.ontology else None
    summary["design"] = dict(vars(settings.design))
    summary["cluster"] = cluster_name(settings.cluster)
    summary["notes"] = list(result.notes)
    summary["answers"] = result.list_answers()
    summary["results"] = _rows(result, result.to_polars())
    summary["comparisons"] = _summarise_comparisons(result)
    summary["averages"] = _rows(result, result.averages())
    summary["margin"] = settings.margin
    summary["families"] = _summarise_families(result)
    for key, frame_of in ACROSS.items():
        rows = []
        for name, across in result.across.items():
            for row in _rows(result, frame_of(across, settings.margin)):
                rows.append({"cases": name, **row})
        summary[key] = rows
    summary["failures"] = result.failed()
    summary["facts"] = [[fact.heading, fact.text, fact.is_warning] for fact in report_bench(result).shown]
    return summary


def _summarise_cases(result: BenchResult) -> list[dict[str, Any]]:
    """Return what was asked in each language."""
    cases = []
    for (name, language), part in result.parts.items():
        cases.append(
            {
                "cases": name,
                "language": language,
                "n_cases": len(part.cases),
                "n_verbatim": result.verbatim[name, language],
                "fingerprint": part.judged,
                "queries": part.cases.queries().to_dicts(),
                "names": dict(result.names.get(part.key, {})),
            }
        )
    return cases


def _summarise_comparisons(result: BenchResult) -> list[dict[str, Any]]:
    """Return the pairs of retrievers in each language."""
    rows = []
    for (name, language), comparison in result.comparisons.items():
        for row in _rows(result, comparison.to_polars(details=True)):
            rows.append({"cases": name, "language": language, **row})
    return rows


def _summarise_families(result: BenchResult) -> list[dict[str, Any]]:
    """Return which cases are the same in several languages."""
    families = []
    for family in result.families:
        cases = {language: part.name for language, part in family.parts.items()}
        families.append({"name": family.name, "cases": cases, "pairs": family.pairs})
    return families


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
