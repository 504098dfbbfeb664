"""From what a user writes to a retriever: ``bm25``, ``bm25(k1=1.2)``, a path, a model, a function."""

import ast
import inspect
import json
import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from deadheat.benchmark.retrievers.embedding import Embedding
from deadheat.benchmark.retrievers.lexical import BM25, StringSimilarity
from deadheat.benchmark.retrievers.protocol import Function, Retriever, RunFile
from deadheat.benchmark.retrievers.reranking import Reranked
from deadheat.errors import (
    MissingDependencyError,
    NoteWarning,
    ParameterError,
    Plain,
    SourceTypeError,
    did_you_mean,
    joined,
    literal,
)
from deadheat.io.formats import SUFFIXES

KINDS: dict[str, Any] = {"bm25": BM25, "string": StringSimilarity, "embedding": Embedding, "run": RunFile}
OWN = (BM25, StringSimilarity, Embedding, RunFile, Function)
WORD = re.compile("[a-z_]+")  # no model: their names have dashes, digits, capitals or an owner
MEANT: dict[str, str] = dict.fromkeys(
    ("levenshtein", "edit_distance", "fuzzy", "fuzz", "rapidfuzz", "similarity", "lexical"), "string"
)
PACKED = (".gz", ".zst")
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
            given=Plain(f"the class {spec.__name__}"), allowed="a retriever", hint=f"make one, as in {spec.__name__}()"
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
    specs : mapping of str to spec, iterable of specs, or a single spec
        Each as for :func:`make_retriever`.
    """
    if isinstance(specs, Mapping):
        named = [(str(name), make_retriever(spec, name=str(name))) for name, spec in specs.items()]
    else:
        several: Iterable[object] = specs if isinstance(specs, list | tuple) else [specs]
        named = _distinguished([make_retriever(one) for one in several])
    if not named:
        raise ParameterError("is empty", hint=f"name at least one: {ALLOWED}", argument="retrievers")
    names = [name for name, _ in named]
    for name in names:
        if names.count(name) > 1:
            is_code = any(one.name == name and isinstance(one, Function) for _, one in named)
            how = "{'a': f, 'b': g}" if is_code else "\"run('new.run', name='new')\""
            raise ParameterError(f"two retrievers are named {name!r}", hint=f"give one another name, as in {how}")
    return dict(named)


def _distinguished(retrievers: Sequence[Retriever]) -> list[tuple[str, Retriever]]:
    """Return retrievers by name; to models of the same name in different folders the folder is added."""
    named = [(one.name, one) for one in retrievers]
    for of_folder in (lambda model: Path(model).absolute().name, str):
        names = [name for name, _ in named]
        named = [
            (f"{one.name}, {of_folder(one.model)}", one)
            if isinstance(one, Embedding) and names.count(name) > 1 and Path(one.model).is_dir()
            else (name, one)
            for name, one in named
        ]
    return named


def described(retriever: Retriever) -> str:
    """Return what a retriever is, in words.

    Examples
    --------
    >>> described(make_retriever("bm25(b=0.5)")), described(make_retriever(len))
    ('BM25', 'a function')
    """
    if isinstance(retriever, BM25):
        return "BM25"
    if isinstance(retriever, StringSimilarity):
        return f"string similarity ({retriever.method})"
    if isinstance(retriever, RunFile):
        return f"the run file{'s' * (len(retriever.paths) > 1)} {', '.join(map(str, retriever.paths))}"
    if isinstance(retriever, Embedding):
        return f"the model {retriever.model}"
    if isinstance(retriever, Reranked):
        then = ", then by its scores" if retriever.then_by_first else ""
        return f"{described(retriever.first)}, the first {retriever.depth} graded by {retriever.grader}{then}"
    return "a function" if isinstance(retriever, Function) else f"of the class {type(retriever).__name__}"


def identity(retriever: Retriever) -> str:
    """Return what the results of a retriever depend on, as JSON; without a key only its class and name."""
    key = key_of(retriever)
    if key is None:
        key = {"retriever": f"{type(retriever).__module__}.{type(retriever).__qualname__}", "name": retriever.name}
    try:
        return json.dumps(key, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"the key of {retriever.name} must be something that JSON can hold", given=Plain(f"{key!r} ({error})")
        ) from error


def key_of(retriever: Retriever) -> object:
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
        how = f"./{text}" + ("" if there == "folder" or "'" in text else f" or \"run('{text}')\"")
        warnings.warn(
            f"{text} is the retriever, not the {there} of that name in this folder: write {how} for the {there}",
            NoteWarning,
            stacklevel=4,
        )
    if is_named and not is_call:
        return _made(text, [], named)
    if not is_named and text and os.path.isfile(path):  # noqa: PTH113 - of Path it raises for a text that is too long
        return RunFile(path, **named)
    if not is_named and text and os.path.isdir(path):  # noqa: PTH112 - as above
        return Embedding(path, **named)
    if is_call:
        return _of_call(text, head.strip(), named)
    if text.endswith((*SUFFIXES, *PACKED)) or text.startswith((".", "/", "~")):
        return RunFile(path, **named)  # says that there is no such file, and which one is near
    hint = f"Did you mean {MEANT[text.lower()]!r}?" if text.lower() in MEANT else did_you_mean(text, KINDS)
    if hint or not text or any(char.isspace() for char in text) or WORD.fullmatch(text):
        raise ParameterError(f"no retriever {text!r}", hint=joined(hint, f"A retriever is {ALLOWED}"))
    try:
        return Embedding(text, **named)
    except MissingDependencyError as error:
        taken = f"no retriever ({', '.join(KINDS)}), file or folder is called {text!r}, so it is taken for a model"
        raise MissingDependencyError(f"{taken}; {error.problem}", hint=error.hint) from error


def _of_call(text: str, head: str, named: dict[str, Any]) -> Retriever:
    """Read a retriever with options."""
    if head not in KINDS:
        hint = joined(did_you_mean(head, KINDS), f"Those that do: {', '.join(KINDS)}")
        raise ParameterError(f"no retriever {head!r} takes options", hint=hint)
    hint = f"write them as in \"{head}(name='mine')\""
    try:
        call = ast.parse(text, mode="eval").body
        words = call.keywords if isinstance(call, ast.Call) else []
        values = [literal(one, text) for one in call.args] if isinstance(call, ast.Call) else []
        options = {one.arg: literal(one.value, text) for one in words if one.arg is not None}
    except (SyntaxError, ValueError):
        raise ParameterError(f"cannot read the options of {text!r}", hint=hint) from None
    if not isinstance(call, ast.Call) or len(options) < len(words):  # given twice, or as **options
        raise ParameterError(f"cannot read the options of {text!r}", hint=hint)
    return _made(head, values, {**options, **named})


def _made(head: str, values: list[Any], options: dict[str, Any]) -> Retriever:
    signature = inspect.signature(KINDS[head])
    allowed = [one.name for one in signature.parameters.values() if one.kind != one.VAR_POSITIONAL]
    for name in options:
        if name not in allowed:
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
