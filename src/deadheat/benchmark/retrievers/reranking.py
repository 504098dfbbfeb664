"""Rerankers: the first documents of a retriever, graded anew by a function, a cross-encoder or a language model."""

import hashlib
import json
import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from http.client import HTTPException
from importlib import import_module
from pathlib import Path
from threading import Event
from typing import Any, Literal
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import polars as pl

from deadheat.benchmark.collection import Collection
from deadheat.benchmark.retrievers.embedding import default_folder
from deadheat.benchmark.retrievers.lexical import BM25
from deadheat.benchmark.retrievers.protocol import SCHEMA, Hits, Retriever, retrieve
from deadheat.data.judgments import read_grade
from deadheat.errors import DataError, NoteWarning, ParameterError, Plain, as_count, collected, counted, package, shown
from deadheat.io.guarding import phase

ALLOWED = "module:function, cross-encoder:MODEL, a function grade(query, text), or an LLM"
CROSS_ENCODER = "cross-encoder:"
PROMPT = """How well does the document answer the query?
0: not at all, 1: it is about the same, but does not answer it, 2: in part, 3: completely.
Answer with the number alone.

Query: {query}
Document: {document}"""
MAY_PASS = {408, 409, 425, 429, 500, 502, 503, 504, 529}  # answers of a server that is busy, or broken for a moment
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds


class Reranked:
    """A retriever whose first documents are ordered by grades, and the others below them as before.

    Documents that tie with the last of the first ones are graded, too. A document without a grade, as where a language
    model refuses, stands with the others, below those that have one.

    Parameters
    ----------
    first : Retriever
    grade : callable
        Takes pairs of query and text, and returns an answer for each, as ``read_grade`` reads it.
    name : str
        Of what grades.
    depth : int, default 20
        Documents of each text that are graded.
    then_by_first : bool, default False
        Whether the retriever's scores order documents of equal grade.
    """

    def __init__(
        self,
        first: Retriever,
        grade: Callable[[Sequence[tuple[str, str]]], Sequence[object]],
        name: str,
        *,
        depth: int = 20,
        then_by_first: bool = False,
    ) -> None:
        self.first, self.grade, self.grader = first, grade, name
        self.depth, self.then_by_first = as_count("rerank_depth", depth), then_by_first
        self.name = f"{first.name} + {name}"
        self._texts: dict[str, str] = {}
        self._in: dict[int, Reranked] = {}

    def __repr__(self) -> str:
        return f"Reranked({self.first!r}, {self.grader!r}, depth={self.depth})"

    @property
    def key(self) -> dict[str, object] | None:
        """What its results depend on, if both say so."""
        keys = [getattr(one, "key", None) for one in (self.first, self.grade)]
        if None in keys:
            return None
        return {"first": keys[0], "grade": keys[1], "depth": self.depth, "then_by_first": self.then_by_first}

    def in_language(self, language: str | None) -> "Reranked":
        """Return the reranker of what the retriever finds in a language: itself, if that is the same in all."""
        first = self.first.in_language(language) if isinstance(self.first, BM25) else self.first
        if first is self.first:
            return self
        if id(first) not in self._in:
            self._in[id(first)] = Reranked(
                first, self.grade, self.grader, depth=self.depth, then_by_first=self.then_by_first
            )
        return self._in[id(first)]

    def index(self, documents: Collection) -> None:
        """Let the retriever take the documents, and keep their texts: name and synonyms."""
        self.first.index(documents)
        self.take_texts(documents)

    def take_texts(self, documents: Collection) -> None:
        """Keep the texts of the documents, which the retriever has taken already."""
        texts, owner = documents.strings()
        own = collected((documents.ids[place], text) for text, place in zip(texts, owner.tolist(), strict=True))
        self._texts.update({doc: "; ".join(strings) for doc, strings in own.items()})

    def search(self, texts: Sequence[str], k: int) -> Hits:
        """Return the k best documents of each text."""
        found = self.retrieve([str(n) for n in range(len(texts))], texts, k)
        return Hits(found["query_id"].cast(pl.Int64).to_numpy(), found["doc_id"].to_numpy(), found["score"].to_numpy())

    def retrieve(self, query_ids: Sequence[str], texts: Sequence[str], k: int) -> pl.DataFrame:
        """Return query_id, doc_id and score of the best documents."""
        return self.regrade(retrieve(self.first, query_ids, texts, max(k, self.depth)), query_ids, texts)

    def regrade(self, found: pl.DataFrame, query_ids: Sequence[str], texts: Sequence[str]) -> pl.DataFrame:
        """Return the documents that the retriever found, with their new scores."""
        score = pl.col("score")
        found = found.with_columns(
            (score.rank("min", descending=True).over("query_id") <= self.depth).alias("is_first"),
            place=pl.int_range(pl.len()),
        )
        asked = found.filter("is_first")
        text_of, rows = dict(zip(query_ids, texts, strict=True)), asked.select("query_id", "doc_id").rows()
        pairs = [(text_of[query], self._texts.get(doc, doc)) for query, doc in rows]
        answers = list(self.grade(pairs)) if pairs else []
        if len(answers) != len(pairs):
            raise ParameterError(f"{self.grader} must return {len(pairs)} grades, one a pair", given=len(answers))
        grades = [read_grade(one).value for one in answers]
        self._tell([one for one, grade in zip(answers, grades, strict=True) if grade is None], len(pairs))
        graded = pl.DataFrame({"place": asked["place"], "grade": grades}, schema_overrides={"grade": pl.Float64})
        found = found.join(graded, on="place", how="left", maintain_order="left")
        # a text's own order: grades, then the others by their scores
        lowest = pl.col("grade").min().over("query_id").fill_null(0.0)
        below = lowest - score.rank("dense", descending=True).over("query_id", pl.col("grade").is_null())
        if self.then_by_first:
            keys = pl.struct(pl.col("grade").fill_null(float("-inf")), "score")
            return found.with_columns(
                score=-keys.rank("dense", descending=True).over("query_id").cast(pl.Float64)
            ).select(*SCHEMA)
        return found.with_columns(score=pl.coalesce("grade", below)).select(*SCHEMA)

    def _tell(self, failed: Sequence[object], n: int) -> None:
        if failed:
            text = f"no grade in {len(failed):,} of {counted(n, 'answer')} ({shown(str(failed[0]))})"
            warnings.warn(f"{self.name}: {text}: they stand below the graded ones", NoteWarning, stacklevel=2)


def reranked(
    retrievers: Mapping[str, Retriever], rerankers: object, depth: int, *, then_by_first: bool
) -> dict[str, Retriever]:
    """Return the retrievers, and each of them with each reranker."""
    several: Iterable[object] = rerankers if isinstance(rerankers, list | tuple) else [rerankers]
    found = dict(retrievers)
    for name, spec in (rerankers if isinstance(rerankers, Mapping) else dict(map(_named, several))).items():
        grade = _grader(spec)
        for first in retrievers.values():
            made = Reranked(first, grade, name, depth=depth, then_by_first=then_by_first)
            found[made.name] = made
    return found


def _named(spec: object) -> tuple[str, object]:
    if isinstance(spec, str):
        return spec.removeprefix(CROSS_ENCODER).rpartition("/")[2], spec
    return str(getattr(spec, "name", getattr(spec, "__name__", type(spec).__name__))), spec


def _grader(spec: object) -> Any:  # noqa: ANN401 - a callable, with a key or without
    if isinstance(spec, LLM):
        return spec
    if isinstance(spec, str) and spec.startswith(CROSS_ENCODER):
        return CrossEncoder(spec.removeprefix(CROSS_ENCODER))
    if isinstance(spec, str):
        module, _, name = spec.partition(":")
        try:
            spec = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise ParameterError(argument="rerankers", given=spec, allowed=ALLOWED, hint=f"{error}") from error
    if not callable(spec):
        raise ParameterError(argument="rerankers", given=spec, allowed=ALLOWED)
    return PerPair(spec)


class PerPair:
    """A function ``grade(query, text)``, called for each pair.

    Finished runs are used again by the function's attribute ``key``, see `Retriever`.
    """

    def __init__(self, function: Callable[[str, str], object]) -> None:
        self.function = function
        self.key = getattr(function, "key", None)

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[object]:
        """Return what the function returns for each pair."""
        return [self.function(query, text) for query, text in pairs]


class CrossEncoder:
    """A cross-encoder of sentence-transformers, by its name or folder."""

    def __init__(self, model: str) -> None:
        self.key = {"cross-encoder": model}
        self._model = package(
            "sentence_transformers", f"cross-encoder:{model} needs sentence-transformers", "embed"
        ).CrossEncoder(model)

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the score of each pair."""
        return [float(one) for one in self._model.predict(list(pairs))]


class LLM:
    """A language model that grades documents, behind any endpoint that speaks OpenAI's protocol.

    Answers are kept in a file by the content of prompt, query and document, as they come: after an interruption, what
    was answered is not asked again.

    Parameters
    ----------
    endpoint : str
        Such as "http://localhost:8000/v1"; /chat/completions is added.
    model : str
    api_key_env : str, default "OPENAI_API_KEY"
        The environment variable that holds the key, if the endpoint wants one.
    prompt : str, optional
        With {query} and {document}; by default grades from 0 to 3 are asked for.
    parallel : int, default 8
        Calls at a time.
    attempts : int, default 6
        Calls for one document while the server is busy; waits double from half a second, or are as it asks.
    timeout : float, default 60
        Seconds of a call.
    cache : path or False, optional
        Folder of kept answers; by default the user's cache folder (or ``$DEADHEAT_CACHE``). False keeps none.
    name : str, optional
        By default that of the model.
    """

    def __init__(
        self,
        endpoint: str,
        model: str,
        *,
        api_key_env: str = "OPENAI_API_KEY",
        prompt: str = PROMPT,
        parallel: int = 8,
        attempts: int = 6,
        timeout: float = 60.0,
        cache: str | Path | Literal[False] | None = None,
        name: str | None = None,
    ) -> None:
        if urlsplit(endpoint).scheme not in {"http", "https"}:
            raise ParameterError(argument="endpoint", given=endpoint, allowed="a URL, as http://localhost:8000/v1")
        if not model:
            raise ParameterError(argument="model", given=model, allowed="the name of a model")
        if lacking := [one for one in ("{query}", "{document}") if one not in prompt]:
            raise ParameterError(f"the prompt has no {lacking[0]}", given=prompt, argument="prompt")
        self.endpoint, self.model, self.prompt = endpoint.rstrip("/"), model, prompt
        self.api_key_env, self.timeout, self.name = api_key_env, timeout, name or model
        self.parallel, self.attempts = as_count("parallel", parallel), as_count("attempts", attempts)
        self.key = {"endpoint": self.endpoint, "model": model, "prompt": prompt}
        named = hashlib.sha256(json.dumps(self.key).encode()).hexdigest()[:32]
        folder = default_folder() if cache is None else cache
        self._kept = Path(folder) / "grades" / f"{named}.jsonl" if folder else None

    def __repr__(self) -> str:
        return f"LLM({self.endpoint!r}, {self.model!r})"

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[str]:
        """Return the answer for each pair of query and document.

        Raises
        ------
        DataError
            The endpoint refuses the key, the model or the prompt; or it cannot be reached, or stays busy.
        """
        wanted = {hashlib.sha256("\0".join(pair).encode()).hexdigest(): pair for pair in pairs}
        answers = self._read()
        todo = {name: pair for name, pair in wanted.items() if name not in answers}
        if self._kept is not None:
            self._kept.parent.mkdir(parents=True, exist_ok=True)
        pool, is_over = ThreadPoolExecutor(self.parallel), Event()

        def answer(name: str, pair: tuple[str, str]) -> None:
            answers[name] = self._ask(pair, is_over)
            self._keep(name, answers[name])

        try:
            with phase(f"asking {self.name}", len(todo)) as advance:
                for done in as_completed([pool.submit(answer, name, pair) for name, pair in todo.items()]):
                    done.result()
                    advance(1)
        finally:
            is_over.set()  # who waits for a busy server waits no longer
            pool.shutdown(cancel_futures=True)
        return [answers[hashlib.sha256("\0".join(pair).encode()).hexdigest()] for pair in pairs]

    def _read(self) -> dict[str, str]:
        """Return the answers that are kept; a line that was cut short by the end of a process is none."""
        if self._kept is None or not self._kept.exists():
            return {}
        found = {}
        for line in self._kept.read_text(encoding="utf-8").splitlines():
            try:
                name, answer = json.loads(line)
            except ValueError:
                continue
            found[name] = answer
        return found

    def _keep(self, name: str, answer: str) -> None:
        if self._kept is not None:
            with self._kept.open("a", encoding="utf-8") as file:
                file.write(f"\n{json.dumps([name, answer])}\n")  # one write; a line that was cut ends here

    def _ask(self, pair: tuple[str, str], is_over: Event) -> str:
        parts = {"{query}": pair[0], "{document}": pair[1]}
        text = re.sub(r"\{query\}|\{document\}", lambda found: parts[found[0]], self.prompt)
        body = {"model": self.model, "messages": [{"role": "user", "content": text}], "temperature": 0}
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get(self.api_key_env):
            headers["Authorization"] = f"Bearer {key}"
        request = Request(f"{self.endpoint}/chat/completions", json.dumps(body).encode(), headers)  # noqa: S310 - http
        wait, problem = FIRST_WAIT, ""
        for attempt in range(self.attempts):
            if attempt:
                if is_over.wait(min(wait, LONGEST_WAIT)):
                    break
                wait *= 2
            try:
                with urlopen(request, timeout=self.timeout) as answer:  # noqa: S310 - http or https, as was checked
                    return _content(json.load(answer))
            except HTTPError as error:
                with error:  # an open answer
                    problem = f"{error.code} {error.reason}: {shown(error.read(500).decode('utf-8', 'replace'))}"
                if error.code not in MAY_PASS:
                    raise DataError(f"{self.endpoint} refuses: {problem}", hint=self._advice(error.code)) from None
                asked = error.headers.get("Retry-After", "")
                wait = float(asked) if asked.isdigit() else wait
            except (URLError, OSError, HTTPException, ValueError, LookupError, TypeError) as error:
                problem = f"{type(error).__name__}: {getattr(error, 'reason', error)}"
        raise DataError(
            f"no answer from {self.endpoint} in {counted(self.attempts, 'attempt')}",
            given=Plain(problem),
            hint="what was answered is kept: the same call goes on from there",
        )

    def _advice(self, code: int) -> str:
        if code not in {401, 403}:
            return ""
        what = "holds another key" if os.environ.get(self.api_key_env) else "is not set"
        return f"the environment variable {self.api_key_env} {what}"


def _content(answer: Mapping[str, Any]) -> str:
    """Return the text of an answer, which may come in parts; a refusal has none."""
    held = answer["choices"][0]["message"].get("content") or ""
    return held if isinstance(held, str) else "".join(part.get("text", "") for part in held)
