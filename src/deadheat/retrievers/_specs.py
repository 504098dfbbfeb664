"""From what a user writes to a retriever: ``bm25``, ``bm25(k1=1.2)``, a path, a model, a function."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from deadheat.errors import ParameterError, SourceTypeError, did_you_mean
from deadheat.io.formats import SUFFIXES
from deadheat.retrievers._bm25 import BM25
from deadheat.retrievers._embedding import Embedding
from deadheat.retrievers._function import Function
from deadheat.retrievers._protocol import Retriever
from deadheat.retrievers._runs import RunFile

if TYPE_CHECKING:
    from collections.abc import Iterable

KINDS: dict[str, Any] = {"bm25": BM25, "embedding": Embedding, "run": RunFile}
OWN = (BM25, Embedding, RunFile, Function)
PACKED = (".gz", ".zst")
ALLOWED = (
    "'bm25', with options as in 'bm25(k1=1.2, b=0.75)', the path of a run file (of several:"
    " \"run('de.run', 'en.run')\"), or the name or folder of a sentence-transformers model,"
    " with options as in \"embedding('NAME', query_prompt='query: ')\""
)


def make_retriever(spec: object, *, name: str | None = None) -> Retriever:
    """Return the retriever that a user means.

    Parameters
    ----------
    spec : str, path, callable or Retriever
        "bm25", also with options; a path of a run file; a model's name or folder; a function ``f(texts, k)`` that
        returns ``{doc_id: score}`` for each text; or a retriever, which is returned.
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
        msg = f"expected a retriever, got the class {spec.__name__}: make one, as in {spec.__name__}()"
        raise SourceTypeError(msg)
    if isinstance(spec, Retriever):
        return spec
    if callable(spec):
        return Function(cast("Any", spec), **named)
    msg = f"cannot make a retriever of {type(spec).__name__}: give {ALLOWED}, a function or an object with name, index"
    raise SourceTypeError(msg + " and search")


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
        named = [(one.name, one) for one in map(make_retriever, several)]
    if not named:
        msg = f"retrievers is empty; name at least one: {ALLOWED}"
        raise ParameterError(msg)
    names = [name for name, _ in named]
    for name in names:
        if names.count(name) > 1:
            is_code = any(one.name == name and isinstance(one, Function) for _, one in named)
            how = "{'a': f, 'b': g}" if is_code else "\"run('new.run', name='new')\""
            msg = f"two retrievers are named {name!r}: give one another name, as in {how}"
            raise ParameterError(msg)
    return dict(named)


def identity(retriever: Retriever) -> str:
    """Return what the results of a retriever depend on, as JSON; without a key only its class and name."""
    key = key_of(retriever)
    if key is None:
        key = {"retriever": f"{type(retriever).__module__}.{type(retriever).__qualname__}", "name": retriever.name}
    try:
        return json.dumps(key, sort_keys=True)
    except (TypeError, ValueError) as error:
        msg = f"the key of {retriever.name} must be something that JSON can hold, got {key!r} ({error})"
        raise ParameterError(msg) from error


def key_of(retriever: Retriever) -> object:
    """Return what tells the results of a retriever from others; None if only a search can say what it finds."""
    kind = type(retriever)
    if isinstance(retriever, OWN) and kind not in OWN and "key" not in vars(kind):
        return None  # a class of a user's: the key that it has from ours says nothing of its changes
    return getattr(retriever, "key", None)


def _of_text(spec: str | Path, named: dict[str, Any]) -> Retriever:
    text, path = str(spec).strip(), Path(spec)
    if not text:
        raise ParameterError(f"no retriever {text!r}. A retriever is {ALLOWED}")
    if text in KINDS and not path.is_file():
        return _made(text, [], named)
    if path.is_file():
        return RunFile(path, **named)
    if path.is_dir():
        return Embedding(path, **named)
    head, bracket, _ = text.partition("(")
    if bracket and text.endswith(")"):
        return _of_call(text, head.strip(), named)
    if text.endswith((*SUFFIXES, *PACKED)) or text.startswith((".", "/", "~")):
        return RunFile(path, **named)  # says that there is no such file, and which one is near
    hint = did_you_mean(text, KINDS)
    if hint or any(char.isspace() for char in text):
        msg = f"no retriever {text!r}.{hint} A retriever is {ALLOWED}"
        raise ParameterError(msg)
    return Embedding(text, **named)


def _of_call(text: str, head: str, named: dict[str, Any]) -> Retriever:
    """Read a retriever with options."""
    if head not in KINDS:
        msg = f"no retriever {head!r} takes options.{did_you_mean(head, KINDS)} Those that do: {', '.join(KINDS)}"
        raise ParameterError(msg)
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or any(one.arg is None for one in call.keywords):
            raise SyntaxError  # noqa: TRY301 - as what cannot be parsed at all
        values = [ast.literal_eval(one) for one in call.args]
        options = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    except (SyntaxError, ValueError):
        msg = f"cannot read the options of {text!r}; write them as in \"{head}(name='mine')\""
        raise ParameterError(msg) from None
    return _made(head, values, {**options, **named})


def _made(head: str, values: list[Any], options: dict[str, Any]) -> Retriever:
    allowed = [one.name for one in inspect.signature(KINDS[head]).parameters.values() if one.kind != one.VAR_POSITIONAL]
    for name in options:
        if name not in allowed:
            msg = f"{head} has no option {name!r}.{did_you_mean(name, allowed)} Its options: {', '.join(allowed)}"
            raise ParameterError(msg)
    try:
        retriever: Retriever = KINDS[head](*values, **options)
    except TypeError as error:
        told = str(error).partition("__init__() ")[2] or str(error)
        msg = f"{head}: {told}"
        raise ParameterError(msg) from error
    return retriever
