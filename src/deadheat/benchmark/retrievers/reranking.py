"""Rerankers, which grade the first documents of a retriever anew; and from what a user writes to a retriever."""

import ast
import hashlib
import inspect
import json
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from http.client import HTTPException
from importlib import import_module, metadata
from pathlib import Path
from threading import Event
from typing import Any, Literal, TypeAlias, cast
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import polars as pl

from deadheat.benchmark.collection import Collection, hash_of
from deadheat.benchmark.retrievers.embedding import BM25, Embedding, StringSimilarity, default_folder, identity_of
from deadheat.benchmark.retrievers.protocol import SCHEMA, Function, Retriever, RunFile
from deadheat.data.judgments import read_grade
from deadheat.errors import (
    DataError,
    NoteWarning,
    ParameterError,
    SourceTypeError,
    as_count,
    by_name,
    changed,
    collected,
    counted,
    did_you_mean,
    joined,
    literal,
    package,
    shown,
)
from deadheat.io.formats import SUFFIXES
from deadheat.io.guarding import phase

RERANKERS = "module:function, cross-encoder:MODEL, a function grade(query, text), or an LLM"
CROSS_ENCODER = "cross-encoder:"
PROMPT = """How well does the document answer the query?
0: not at all, 1: it is about the same, but does not answer it, 2: in part, 3: completely.
Answer with the number alone.

Query: {query}
Document: {document}"""
MAY_PASS = {408, 409, 425, 429, 500, 502, 503, 504, 529}  # answers of a server that is busy, or broken for a moment
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds


System: TypeAlias = "Retriever | Reranked"
ONE_NAME = {
    "what": "retrievers",
    "hint": "give one another name, as in \"run('new.run', name='new')\"",
    "python": "or give a dict of name to retriever",
}


class Reranked:
    """A retriever and a reranker: its first documents are ordered by grades, the others are below them as before.

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
    of : str, optional
        What reports call the retriever; by default its own name.
    """

    def __init__(
        self,
        first: Retriever,
        grade: Callable[[Sequence[tuple[str, str]]], Sequence[object]],
        name: str,
        *,
        depth: int = 20,
        then_by_first: bool = False,
        of: str | None = None,
    ) -> None:
        self.first, self.grade, self.grader = first, grade, name
        self.depth, self.then_by_first = as_count("rerank_depth", depth), then_by_first
        self.name = f"{of or first.name} + {name}"

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
        """Return the reranker of what the retriever finds in a language."""
        return changed(self, first=self.first.in_language(language)) if isinstance(self.first, BM25) else self

    def regrade(
        self, found: pl.DataFrame, query_ids: Sequence[str], texts: Sequence[str], documents: Collection
    ) -> pl.DataFrame:
        """Return what the retriever found with new scores; of a document name and synonyms are graded."""
        score = pl.col("score")
        found = found.with_columns(
            (score.rank("min", descending=True).over("query_id") <= self.depth).alias("is_first"),
            place=pl.int_range(pl.len()),
        )
        asked = found.filter("is_first")
        text_of = dict(zip(query_ids, texts, strict=True))
        strings, owner = documents.strings()
        wanted = set(asked["doc_id"])
        owners = map(documents.ids.__getitem__, owner.tolist())
        named = collected((doc, text) for doc, text in zip(owners, strings, strict=True) if doc in wanted)
        each = [
            (text_of[query], "; ".join(named.get(doc, [doc])))
            for query, doc in asked.select("query_id", "doc_id").iter_rows()
        ]
        pairs = list(dict.fromkeys(each))  # one grade for the same texts: a model may depend on its batch
        answers = list(self.grade(pairs)) if pairs else []
        if len(answers) != len(pairs):
            raise ParameterError(f"{self.grader} must return {len(pairs)} grades, one a pair", given=len(answers))
        read = dict(zip(pairs, map(read_grade, answers), strict=True))
        scales = sorted({one.scale for one in read.values() if one.scale is not None})
        if len(scales) > 1:
            told = " and ".join(f"{one:g}" for one in scales)
            raise DataError(f"{self.grader} answers on several scales", allowed="one", found=told)
        if failed := [one for one, grade in zip(answers, read.values(), strict=True) if grade.value is None]:
            warnings.warn(
                f"{self.name}: no grade in {len(failed):,} of {counted(len(pairs), 'answer')}"
                f" ({shown(str(failed[0]))}): they rank below the graded ones",
                NoteWarning,
                stacklevel=2,
            )
        grades = pl.Series("grade", [read[pair].value for pair in each], pl.Float64)
        found = found.join(pl.DataFrame([asked["place"], grades]), on="place", how="left", maintain_order="left")
        if self.then_by_first:
            keys = pl.struct(pl.col("grade").fill_null(float("-inf")), "score")
            new = -keys.rank("dense", descending=True).over("query_id").cast(pl.Float64)
        else:  # a text's own order: grades, then the others by their scores
            lowest = pl.col("grade").min().over("query_id").fill_null(0.0)
            below = lowest - score.rank("dense", descending=True).over("query_id", pl.col("grade").is_null())
            new = pl.coalesce("grade", below)
        return found.with_columns(score=new).select(*SCHEMA)


def reranked(
    retrievers: Mapping[str, Retriever], rerankers: object, depth: int, *, then_by_first: bool
) -> dict[str, System]:
    """Return the retrievers, and each of them with each reranker."""
    listed = rerankers if isinstance(rerankers, list | tuple) else [rerankers]
    given = rerankers.items() if isinstance(rerankers, Mapping) else [(_name(one), one) for one in listed]
    named = by_name(given, what="rerankers", hint="", python="give a dict of name to reranker")
    made = [
        Reranked(first, grade, name, depth=depth, then_by_first=then_by_first, of=own)
        for name, grade in {name: _grader(spec) for name, spec in named.items()}.items()
        for own, first in retrievers.items()
    ]
    return by_name([*retrievers.items(), *((one.name, one) for one in made)], **ONE_NAME)


def _name(spec: object) -> str:
    if isinstance(spec, str):
        return spec.removeprefix(CROSS_ENCODER).rpartition("/")[2]
    return str(getattr(spec, "name", getattr(spec, "__name__", type(spec).__name__)))


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
            raise ParameterError(argument="rerankers", given=spec, allowed=RERANKERS, hint=f"{error}") from error
    if not callable(spec):
        raise ParameterError(argument="rerankers", given=spec, allowed=RERANKERS)
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
        self._model = package(
            "sentence_transformers", f"cross-encoder:{model} needs sentence-transformers", "embed"
        ).CrossEncoder(model)
        self.key = {
            "cross-encoder": identity_of(model),
            "sentence-transformers": metadata.version("sentence-transformers"),
        }

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
        if lacking := [one for one in ("{query}", "{document}") if one not in prompt]:
            raise ParameterError(f"the prompt has no {lacking[0]}", given=prompt, argument="prompt")
        self.endpoint, self.model, self.prompt = endpoint.rstrip("/"), model, prompt
        self.api_key_env, self.timeout, self.name = api_key_env, timeout, name or model
        self.parallel, self.attempts = as_count("parallel", parallel), as_count("attempts", attempts)
        self.key = {"endpoint": self.endpoint, "model": model, "prompt": prompt}
        folder = default_folder() if cache is None else cache
        self._kept = Path(folder) / "grades" / f"{hash_of(self.key)[:32]}.jsonl" if folder else None

    def __repr__(self) -> str:
        return f"LLM({self.endpoint!r}, {self.model!r})"

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[str]:
        """Return the answer for each pair of query and document.

        Raises
        ------
        DataError
            The endpoint refuses the key, the model or the prompt; or it cannot be reached, or stays busy.
        """
        names = [hashlib.sha256("\0".join(pair).encode()).hexdigest() for pair in pairs]
        answers = self._read()
        todo = {name: pair for name, pair in zip(names, pairs, strict=True) if name not in answers}
        if self._kept is not None:
            self._kept.parent.mkdir(parents=True, exist_ok=True)
        pool, is_over = ThreadPoolExecutor(self.parallel), Event()

        def answer(name: str, pair: tuple[str, str]) -> None:
            answers[name] = self._ask(pair, is_over)
            if self._kept is not None:
                with self._kept.open("a", encoding="utf-8") as file:
                    file.write(f"\n{json.dumps([name, answers[name]])}\n")  # one write; a line that was cut ends here

        try:
            with phase(f"asking {self.name}", len(todo)) as advance:
                for done in as_completed([pool.submit(answer, name, pair) for name, pair in todo.items()]):
                    done.result()
                    advance(1)
        finally:
            is_over.set()  # who waits for a busy server waits no longer
            pool.shutdown(cancel_futures=True)
        return [answers[name] for name in names]

    def _read(self) -> dict[str, str]:
        """Return the answers that are kept; a line that was cut short by the end of a process is none."""
        if self._kept is None or not self._kept.exists():
            return {}
        found = {}
        for line in self._kept.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError):
                name, answer = json.loads(line)
                found[name] = answer
        return found

    def _ask(self, pair: tuple[str, str], is_over: Event) -> str:
        parts = {"{query}": pair[0], "{document}": pair[1]}
        text = re.sub(r"\{query\}|\{document\}", lambda found: parts[found[0]], self.prompt)
        body = {"model": self.model, "messages": [{"role": "user", "content": text}], "temperature": 0}
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get(self.api_key_env):
            headers["Authorization"] = f"Bearer {key}"
        request = Request(f"{self.endpoint}/chat/completions", json.dumps(body).encode(), headers)  # noqa: S310 - http
        wait, problem = 0.0, ""
        for _ in range(self.attempts):
            if is_over.wait(min(wait, LONGEST_WAIT)):
                break
            wait = 2 * wait or FIRST_WAIT
            try:
                with urlopen(request, timeout=self.timeout) as answer:  # noqa: S310 - http or https, as was checked
                    content = json.load(answer)["choices"][0]["message"].get("content") or ""  # a refusal has none
                    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
            except HTTPError as error:
                with error:  # an open answer
                    problem = f"{error.code} {error.reason}: {shown(error.read(500).decode('utf-8', 'replace'))}"
                if error.code not in MAY_PASS:
                    what = "holds another key" if key else "is not set"
                    hint = f"the environment variable {self.api_key_env} {what}" * (error.code in {401, 403})
                    raise DataError(f"{self.endpoint} refuses: {problem}", hint=hint) from None
                asked = error.headers.get("Retry-After", "")
                wait = float(asked) if asked.isdigit() else wait
            except (URLError, OSError, HTTPException, ValueError, LookupError, TypeError, AttributeError) as error:
                problem = f"{type(error).__name__}: {getattr(error, 'reason', error)}"
        raise DataError(
            f"no answer from {self.endpoint} in {counted(self.attempts, 'attempt')}",
            found=problem,
            hint="what was answered is kept: the same call goes on from there",
        )


KINDS: dict[str, Any] = {"bm25": BM25, "string": StringSimilarity, "embedding": Embedding, "run": RunFile}
OWN = (BM25, StringSimilarity, Embedding, RunFile, Function)
WORD = re.compile("[a-z_]+")  # no model: their names have dashes, digits, capitals or an owner
MEANT: dict[str, str] = dict.fromkeys(
    ("levenshtein", "edit_distance", "fuzzy", "fuzz", "rapidfuzz", "similarity", "lexical"), "string"
)

ALLOWED = (
    "'bm25', with options as in 'bm25(k1=1.2, b=0.75)', 'string' (similar strings), the path of a run file (of several:"
    " \"run('de.run', 'en.run')\"), or the name (such as all-MiniLM-L6-v2) or folder of a sentence-transformers model,"
    " with options as in \"embedding('NAME', query_prompt='query: ')\""
)


def make_retriever(spec: object, *, name: str | None = None) -> Retriever:
    """Return the retriever that a user means.

    Parameters
    ----------
    spec : str, path, callable or Retriever
        "bm25" or "string", also with options; a path of a run file; a model's name or folder; a function
        ``f(texts, k)`` that returns ``{doc_id: score}`` for each text; or a retriever, which is returned. "bm25"
        is BM25 also where a file is called so (with a warning): that is "./bm25", "run('bm25')" or ``Path("bm25")``.
    name : str, optional
        What reports call it; not of a retriever, which has one.

    Returns
    -------
    Retriever

    Raises
    ------
    ParameterError
        There is no such retriever, or an option is wrong.

    Examples
    --------
    >>> make_retriever("bm25(k1=1.2, b=0.75)").name
    'bm25(k1=1.2)'
    """
    named: dict[str, Any] = {} if name is None else {"name": name}
    if isinstance(spec, str | Path):
        return _of_text(spec, named)
    if isinstance(spec, type):
        raise SourceTypeError(
            found=f"the class {spec.__name__}", allowed="a retriever", hint=f"make one, as in {spec.__name__}()"
        )
    if isinstance(spec, Retriever):
        return spec
    if callable(spec):
        return Function(cast("Any", spec), **named)
    raise SourceTypeError(
        f"cannot make a retriever of {type(spec).__name__}: give {ALLOWED}, a function or an object with name, index"
        " and search"
    )


def make_retrievers(specs: object) -> dict[str, Retriever]:
    """Return retrievers by name.

    Parameters
    ----------
    specs : mapping of str to spec, list or tuple of specs, or a single spec
        Each as for :func:`make_retriever`.
    """
    if isinstance(specs, Mapping):
        named = [(str(name), make_retriever(spec, name=str(name))) for name, spec in specs.items()]
    else:
        named = _distinguished(list(map(make_retriever, specs if isinstance(specs, list | tuple) else [specs])))
    if not named:
        raise ParameterError("is empty", hint=f"name at least one: {ALLOWED}", argument="retrievers")
    return by_name(named, **ONE_NAME)


def _distinguished(retrievers: Sequence[Retriever]) -> list[tuple[str, Retriever]]:
    """Return retrievers by name; to models of the same name in different folders the folder is added."""
    names = [one.name for one in retrievers]
    return [
        (f"{one.name}, {one.model}", one)
        if isinstance(one, Embedding) and names.count(one.name) > 1 and Path(one.model).is_dir()
        else (one.name, one)
        for one in retrievers
    ]


def described(retriever: System) -> str:
    """Return what a retriever is, in words.

    Examples
    --------
    >>> described(make_retriever("bm25(b=0.5)")), described(make_retriever(len))
    ('BM25', 'a function')
    """
    if isinstance(retriever, RunFile):
        return f"the run file{'s' * (len(retriever.paths) > 1)} {', '.join(map(str, retriever.paths))}"
    if isinstance(retriever, Reranked):
        then = ", then by its scores" if retriever.then_by_first else ""
        return f"{described(retriever.first)}, the first {retriever.depth} graded by {retriever.grader}{then}"
    kinds = {
        BM25: "BM25",
        StringSimilarity: "string similarity ({0.method})",
        Embedding: "the model {0.model}",
        Function: "a function",
    }
    forms = (form for kind, form in kinds.items() if isinstance(retriever, kind))
    return next(forms, f"of the class {type(retriever).__name__}").format(retriever)


def identity(retriever: System) -> str:
    """Return what the results of a retriever depend on, as JSON; without a key only its class and name."""
    key = key_of(retriever)
    if key is None:
        key = {"retriever": f"{type(retriever).__module__}.{type(retriever).__qualname__}", "name": retriever.name}
    try:
        return json.dumps(key, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"the key of {retriever.name} must be something that JSON can hold", found=f"{key!r} ({error})"
        ) from error


def key_of(retriever: System) -> object:
    """Return what distinguishes the results of a retriever; None if only a search can say what it finds."""
    kind = type(retriever)
    if isinstance(retriever, OWN) and kind not in OWN and "key" not in vars(kind):
        return None  # a user's subclass: the key that it inherits says nothing about its changes
    return getattr(retriever, "key", None)


def _of_text(spec: str | Path, named: dict[str, Any]) -> Retriever:
    text, path = str(spec).strip(), Path(spec)
    head, bracket, _ = text.partition("(")
    is_call = bool(bracket) and text.endswith(")")
    # the name of a retriever means that retriever, even where a file has the same name; a Path is a path
    is_named = isinstance(spec, str) and (text in KINDS or (head.strip() in KINDS and is_call))
    if is_named and os.path.lexists(text):
        there = "folder" if path.is_dir() else "file"
        warnings.warn(
            f"{text} is the retriever, not the {there} of that name in this folder: write ./{text} for the {there}",
            NoteWarning,
            stacklevel=4,
        )
    if not is_named and text and os.path.isfile(path):  # noqa: PTH113 - of Path it raises for a text that is too long
        return RunFile(path, **named)
    if not is_named and text and os.path.isdir(path):  # noqa: PTH112 - as above
        return Embedding(path, **named)
    if is_named or is_call:
        return _of_call(text if is_call else f"{text}()", head.strip(), named)
    if text.endswith((*SUFFIXES, ".gz", ".zst")) or text.startswith((".", "/", "~")):
        return RunFile(path, **named)  # says that there is no such file, and which one is near
    hint = f"Did you mean {MEANT[text.lower()]!r}?" if text.lower() in MEANT else did_you_mean(text, KINDS)
    if hint or not text or any(char.isspace() for char in text) or WORD.fullmatch(text):
        raise ParameterError(f"no retriever {text!r}", hint=joined(hint, f"A retriever is {ALLOWED}"))
    return Embedding(text, **named)


def _of_call(text: str, head: str, named: dict[str, Any]) -> Retriever:
    """Read a retriever with options."""
    if head not in KINDS:
        raise ParameterError(
            f"no retriever {head!r} takes options",
            hint=joined(did_you_mean(head, KINDS), f"Those that do: {', '.join(KINDS)}"),
        )
    try:
        compile(text, "", "eval")  # which refuses an option that is given twice
        call = cast("ast.Call", ast.parse(text, mode="eval").body)
        values = [literal(one, text) for one in call.args]
        options = {str(one.arg): literal(one.value, text) for one in call.keywords} | named
    except (SyntaxError, ValueError, AttributeError) as error:  # AttributeError: no call
        raise ParameterError(
            f"cannot read the options of {text!r}", hint=f"write them as in \"{head}(name='mine')\""
        ) from error
    signature = inspect.signature(KINDS[head])
    allowed = [one.name for one in signature.parameters.values() if one.kind != one.VAR_POSITIONAL]
    for name in (one for one in options if one not in allowed):
        raise ParameterError(
            f"{head} has no option {name!r}",
            hint=joined(did_you_mean(name, allowed), f"Its options: {', '.join(allowed)}"),
        )
    try:
        signature.bind(*values, **options)  # says what is wrong without the name of a function in front
        retriever: Retriever = KINDS[head](*values, **options)
    except (TypeError, ParameterError) as error:  # the names in it are of this retriever, in a command too
        raise ParameterError(f"{head}: {error}") from error
    return retriever
