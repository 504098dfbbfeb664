"""Rerankers, which grade the first documents of a retriever anew; and from what a user writes to a retriever."""

import ast
import inspect
import json
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, TypeAlias, cast

import polars as pl

from deadheat.core.checks import as_count, name_items, read_literal
from deadheat.core.errors import DataError, NoteWarning, ParameterError, SourceTypeError, UserCodeError
from deadheat.core.io.formats import SUFFIXES
from deadheat.core.io.grades import Grade, describe_far_grades, read_grade
from deadheat.core.libraries import import_package
from deadheat.core.structures import copy_with, group_values
from deadheat.core.wording import did_you_mean, format_count, format_percentage, join_sentences, quote_text
from deadheat.plugins.bench.collection import Collection
from deadheat.plugins.bench.retrievers.embedding import BM25, Embedding, StringSimilarity, identity_of
from deadheat.plugins.bench.retrievers.language_model import LLM
from deadheat.plugins.bench.retrievers.protocol import SCHEMA, Function, Retriever, RunFile

RERANKERS = "module:function, cross-encoder:MODEL or a language model (llm)"
OF_PYTHON = "or a function grade(query, text), or an LLM"
CROSS_ENCODER = "cross-encoder:"
GRADING = 2  # part of the key of a finished run: 2 leaves out grades beyond the scale

System: TypeAlias = "Retriever | Reranked"
ONE_NAME = {
    "what": "retrievers",
    "hint": "give one another name, as in \"run('new.run', name='new')\"",
    "python": "or give a dict of name to retriever",
}


@dataclass(frozen=True)
class GradedAnswers:
    """How many of a reranker's answers hold a grade.

    Attributes
    ----------
    n_answers, n_ungraded : int
    example : str
        The first answer without a grade, cut; empty without any.
    far : str
        Grades that are far beyond most others, in words; empty without any.
    """

    n_answers: int = 0
    n_ungraded: int = 0
    example: str = ""
    far: str = ""

    @property
    def share_ungraded(self) -> float:
        """The share of the answers without a grade."""
        return self.n_ungraded / max(self.n_answers, 1)

    def describe(self) -> list[str]:
        """Return what a report says of them."""
        sentences = []
        if self.n_ungraded:
            sentences.append(
                f"no grade in {self.n_ungraded:,} of {format_count(self.n_answers, 'answer')}"
                f" ({format_percentage(self.share_ungraded)}), such as {self.example}: they rank below the graded ones"
            )
        if self.far:
            sentences.append(self.far)
        return sentences

    def to_dict(self) -> dict[str, object]:
        """Return them as JSON holds them."""
        return asdict(self)

    @classmethod
    def of_dict(cls, held: object) -> "GradedAnswers | None":
        """Return what JSON holds of them; None if it is something else."""
        if not isinstance(held, Mapping) or {name: type(value) for name, value in held.items()} != TYPES_OF_ANSWERS:
            return None
        return cls(**held)


TYPES_OF_ANSWERS = {name: type(value) for name, value in asdict(GradedAnswers()).items()}


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
        return {
            "first": keys[0],
            "grade": keys[1],
            "depth": self.depth,
            "then_by_first": self.then_by_first,
            "grading": GRADING,
        }

    def in_language(self, language: str | None) -> "Reranked":
        """Return the reranker of what the retriever finds in a language."""
        return copy_with(self, first=self.first.in_language(language)) if isinstance(self.first, BM25) else self

    def regrade(
        self, found: pl.DataFrame, query_ids: Sequence[str], texts: Sequence[str], documents: Collection
    ) -> tuple[pl.DataFrame, GradedAnswers]:
        """Return what the retriever found with new scores, and how many answers hold a grade.

        Of a document name and synonyms are graded.

        Raises
        ------
        DataError
            No answer holds a grade, or they are on several scales.
        """
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
        named = group_values((doc, text) for doc, text in zip(owners, strings, strict=True) if doc in wanted)
        each = [
            (text_of[query], "; ".join(named.get(doc, [doc])))
            for query, doc in asked.select("query_id", "doc_id").iter_rows()
        ]
        pairs = list(dict.fromkeys(each))  # one grade for the same texts: a model may depend on its batch
        read, answers = self._grade_pairs(pairs)
        grades = pl.Series("grade", [read[pair] for pair in each], pl.Float64)
        found = found.join(pl.DataFrame([asked["place"], grades]), on="place", how="left", maintain_order="left")
        if self.then_by_first:
            keys = pl.struct(pl.col("grade").fill_null(float("-inf")), "score")
            new = -keys.rank("dense", descending=True).over("query_id").cast(pl.Float64)
        else:  # a text's own order: grades, then the others by their scores
            lowest = pl.col("grade").min().over("query_id").fill_null(0.0)
            below = lowest - score.rank("dense", descending=True).over("query_id", pl.col("grade").is_null())
            new = pl.coalesce("grade", below)
        return found.with_columns(score=new).select(*SCHEMA), answers

    def _grade_pairs(
        self, pairs: Sequence[tuple[str, str]]
    ) -> tuple[dict[tuple[str, str], float | None], GradedAnswers]:
        """Return the grade of each pair, None without one, and how many answers hold one."""
        answers = list(self.grade(pairs)) if pairs else []
        if len(answers) != len(pairs):
            raise ParameterError(f"{self.grader} must return {len(pairs)} grades, one a pair", given=len(answers))
        grades = [read_grade(answer) for answer in answers]
        self._check_scale(grades)
        scale = getattr(self.grade, "scale", None)
        values: list[float | None] = []
        ungraded = []
        for grade, answer in zip(grades, answers, strict=True):
            value = grade.value
            if value is not None and scale is not None and not scale[0] <= value <= scale[1]:
                value = None
            if value is None:
                ungraded.append(quote_text(str(answer)))
            values.append(value)
        if ungraded and len(ungraded) == len(answers):
            raise self._error_without_grades(ungraded)
        graded = GradedAnswers(len(answers), len(ungraded))
        if ungraded:
            graded = replace(graded, example=ungraded[0])
        if not scale:
            graded = replace(graded, far=describe_far_grades(values))
        return dict(zip(pairs, values, strict=True)), graded

    def _check_scale(self, grades: Sequence[Grade]) -> None:
        """Raise `DataError` if grades are on several scales."""
        scales = sorted({grade.scale for grade in grades if grade.scale is not None})
        if len(scales) > 1:
            found = " and ".join(f"{scale:g}" for scale in scales)
            raise DataError(f"{self.grader} answers on several scales", allowed="one", found=found)

    def _error_without_grades(self, answers: Sequence[str]) -> DataError:
        """Return the error for answers none of which holds a grade."""
        scale = getattr(self.grade, "scale", None)
        allowed = "a number" if scale is None else f"a number from {scale[0]:g} to {scale[1]:g}"
        return DataError(
            f"{self.name}: no grade in any of {format_count(len(answers), 'answer')}", allowed=allowed, found=answers[0]
        )


def reranked(
    retrievers: Mapping[str, Retriever], rerankers: object, depth: int, *, then_by_first: bool
) -> dict[str, System]:
    """Return the retrievers, and each of them with each reranker."""
    listed = rerankers if isinstance(rerankers, list | tuple) else [rerankers]
    given = rerankers.items() if isinstance(rerankers, Mapping) else [(_name(one), one) for one in listed]
    named = name_items(given, what="rerankers", hint="", python="give a dict of name to reranker")
    made = [
        Reranked(first, grade, name, depth=depth, then_by_first=then_by_first, of=own)
        for name, grade in {name: _grader(spec) for name, spec in named.items()}.items()
        for own, first in retrievers.items()
    ]
    return name_items([*retrievers.items(), *((one.name, one) for one in made)], **ONE_NAME)


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
        with _code_of_user(spec):
            return NamedFunction(spec)
    if not callable(spec):
        raise ParameterError(argument="rerankers", given=spec, allowed=RERANKERS, python=OF_PYTHON)
    return PerPair(spec)


@contextmanager
def _code_of_user(spec: str) -> Iterator[None]:
    """Raise `UserCodeError` for whatever a module or function raises that the user named, `SystemExit` too."""
    try:
        yield
    except (KeyboardInterrupt, ParameterError):
        raise
    except BaseException as error:
        raise UserCodeError(f"the reranker {quote_text(spec)} raised {type(error).__name__}: {error}") from error


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


class NamedFunction(PerPair):
    """A function that is named as ``module:function``.

    Raises
    ------
    ParameterError
        There is no such module, or nothing in it that can be called.
    """

    def __init__(self, spec: str) -> None:
        self._spec = spec
        module, _, name = spec.partition(":")
        if not all(module.split(".")):  # a relative name has no package that it would be relative to
            raise ParameterError(argument="rerankers", given=spec, allowed=RERANKERS, python=OF_PYTHON)
        try:
            function = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise ParameterError(
                argument="rerankers", given=spec, allowed=RERANKERS, hint=f"{error}", python=OF_PYTHON
            ) from error
        if not callable(function):
            raise ParameterError(argument="rerankers", given=spec, allowed=RERANKERS, python=OF_PYTHON)
        super().__init__(function)

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[object]:
        """Return what the function returns for each pair; what it raises is the cause of a `UserCodeError`."""
        with _code_of_user(self._spec):
            return super().__call__(pairs)


class CrossEncoder:
    """A cross-encoder of sentence-transformers, by its name or folder."""

    def __init__(self, model: str) -> None:
        self._model = import_package(
            "sentence_transformers", f"cross-encoder:{model} needs sentence-transformers", "embed"
        ).CrossEncoder(model)
        self.key = {
            "cross-encoder": identity_of(model),
            "sentence-transformers": metadata.version("sentence-transformers"),
        }

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the score of each pair."""
        return [float(one) for one in self._model.predict(list(pairs))]


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
        return _make_from_text(spec, named)
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
    return name_items(named, **ONE_NAME)


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


def _make_from_text(spec: str | Path, named: dict[str, Any]) -> Retriever:
    """Return the retriever that a name, a call, a path or the name of a model means."""
    text = str(spec).strip()
    path = Path(spec)
    head, bracket, _ = text.partition("(")
    kind = head.strip()
    is_call = bool(bracket) and text.endswith(")")
    # the name of a retriever means that retriever, even where a file has the same name; a Path is a path
    is_named = isinstance(spec, str) and (text in KINDS or (is_call and kind in KINDS))
    if is_named:
        _warn_of_path_named_alike(text)
    elif text and os.path.isfile(path):  # noqa: PTH113 - of Path it raises for a text that is too long
        return RunFile(path, **named)
    elif text and os.path.isdir(path):  # noqa: PTH112 - as above
        return Embedding(path, **named)
    if is_call:
        return _make_from_call(text, kind, named)
    if is_named:
        return _make_from_call(f"{text}()", kind, named)
    if text.endswith((*SUFFIXES, ".gz", ".zst")) or text.startswith((".", "/", "~")):
        return RunFile(path, **named)  # says that there is no such file, and which one is near
    _check_name_of_model(text)
    return Embedding(text, **named)


def _warn_of_path_named_alike(text: str) -> None:
    """Warn that a text means the retriever of that name, if this folder has a file or folder of the same name."""
    if not os.path.lexists(text):
        return
    there = "folder" if Path(text).is_dir() else "file"
    warnings.warn(
        f"{text} is the retriever, not the {there} of that name in this folder: write ./{text} for the {there}",
        NoteWarning,
        stacklevel=5,  # the caller of `make_retrievers`
    )


def _check_name_of_model(text: str) -> None:
    """Raise `ParameterError` for a text that can be no name of a model, or is near the name of a retriever."""
    meant = MEANT.get(text.lower())
    hint = did_you_mean(text, KINDS) if meant is None else f"Did you mean {meant!r}?"
    has_space = any(char.isspace() for char in text)
    if hint or not text or has_space or WORD.fullmatch(text):
        raise ParameterError(f"no retriever {text!r}", hint=join_sentences(hint, f"A retriever is {ALLOWED}"))


def _make_from_call(text: str, kind: str, named: dict[str, Any]) -> Retriever:
    """Return the retriever that a call with options means, such as ``bm25(k1=1.2)``."""
    if kind not in KINDS:
        raise ParameterError(
            f"no retriever {kind!r} takes options",
            hint=join_sentences(did_you_mean(kind, KINDS), f"Those that do: {', '.join(KINDS)}"),
        )
    values, options = _read_arguments(text, kind)
    options |= named
    signature = inspect.signature(KINDS[kind])
    allowed = []
    for parameter in signature.parameters.values():
        if parameter.kind != parameter.VAR_POSITIONAL:
            allowed.append(parameter.name)
    for name in options:
        if name not in allowed:
            raise ParameterError(
                f"{kind} has no option {name!r}",
                hint=join_sentences(did_you_mean(name, allowed), f"Its options: {', '.join(allowed)}"),
            )
    try:
        signature.bind(*values, **options)  # says what is wrong without the name of a function in front
        retriever: Retriever = KINDS[kind](*values, **options)
    except (TypeError, ParameterError) as error:  # the names in it are of this retriever, in a command too
        raise ParameterError(f"{kind}: {error}") from error
    return retriever


def _read_arguments(text: str, kind: str) -> tuple[list[Any], dict[str, Any]]:
    """Return the values of a call without a name, and those with one."""
    try:
        compile(text, "", "eval")  # which refuses an option that is given twice
        call = cast("ast.Call", ast.parse(text, mode="eval").body)
        values = [read_literal(argument, text) for argument in call.args]
        options = {str(keyword.arg): read_literal(keyword.value, text) for keyword in call.keywords}
    except (SyntaxError, ValueError, AttributeError) as error:  # AttributeError: no call
        raise ParameterError(
            f"cannot read the options of {text!r}", hint=f"write them as in \"{kind}(name='mine')\""
        ) from error
    return values, options
