"""Search by the similarity of embeddings, from any sentence-transformers model, and by the letters of texts.

A score of embeddings depends on two vectors alone, bit by bit: equal vectors tie, whatever they are computed with.
Floating-point sums depend on the order in which a processor adds up, and BLAS adds in another order for a matrix of
another shape, at another place of one matrix, and with another number of threads. A sum that needs no rounding does
not: here each vector is first rounded to whole multiples of a power of two, so few bits that float64 holds every sum of
their products exactly. (The idea, for one part: Ozaki et al., Numerical Algorithms 59, 2012,
doi:10.1007/s11075-011-9478-1.)

By letters is by words, which is BM25 by the package bm25s, and by characters, by rapidfuzz; with what counts as a word
in a language: stop words, stems, and accents.
"""

import hashlib
import json
import os
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from importlib import import_module, metadata
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, find_codes
from deadheat.core.checks import as_count, as_number, as_pattern, check_choice
from deadheat.core.errors import DataError, DeadheatWarning, MissingDependencyError, ParameterError
from deadheat.core.io.writing import replace_file
from deadheat.core.libraries import import_package
from deadheat.core.phases import phase
from deadheat.plugins.bench.collection import Collection, hash_of
from deadheat.plugins.bench.languages import ALLOWED, NAMES, base, checked_code, is_code, near_code
from deadheat.plugins.bench.retrievers.protocol import (
    STRINGS,
    Hits,
    Strings,
    check_search,
    options_of,
    top,
    written,
)

PART = 256  # strings between two steps of the progress bar
MAX_CELLS = 1 << 26  # of a matrix of scores: 256 MB
ROWS = 4096  # of embeddings that are float64 at once
FLOAT32, FLOAT64 = 24, 53  # bits of their numbers
ENVIRONMENT = "DEADHEAT_CACHE"
LONGEST = 100  # characters of a name: a longer title is a sentence
FRONT = re.compile(r"\A---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.DOTALL)
TITLE = re.compile(r"^#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
FIELD = r"^{}:[ \t]*(?:\n[ \t]*-[ \t]*(?:name:)?)?[ \t]*(\S.*)$"  # of the head of a card, also the first of a list


class Embedding:
    """Search by the dot product of embeddings, in float32.

    A score depends on the two embeddings alone, not on what else is searched or found with them: equal embeddings tie.
    For that their numbers are rounded to 20 bits or more of the largest in each (22 for 384 dimensions), so that the
    products add up without rounding.
    Embeddings of the documents are kept in a folder, by the model and the content of the collection. With a model
    that is on this machine nothing is fetched.

    Parameters
    ----------
    model : str or path
        The name of a sentence-transformers model, or the folder that holds one.
    batch_size : int, default 32
    device : str, optional
        Such as "cpu" or "cuda"; by default the best that there is.
    normalise : bool, default True
        Whether embeddings have length 1, so that the score is the cosine.
    query_prompt, document_prompt : str, optional
        What is put before every text and every document; by default what the model itself prescribes, if anything.
    strings : {"best", "joined"}, default "best"
        A document scores by its best string; or all its strings are one text.
    cache : path or False, optional
        Folder of kept embeddings; by default the user's cache folder (or ``$DEADHEAT_CACHE``). False keeps none.
    revision : str, optional
        Of a model on the hub.
    name : str, optional
        By default the last part of the model's name; of one in a folder as its card has it (README.md: ``model_name``,
        ``model-index`` or the title), else the folder's.

    Raises
    ------
    MissingDependencyError
        sentence-transformers is not installed.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        batch_size: int = 32,
        device: str | None = None,
        normalise: bool = True,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        strings: str = "best",
        cache: str | Path | Literal[False] | None = None,
        revision: str | None = None,
        name: str | None = None,
    ) -> None:
        self.batch_size = as_count("batch_size", batch_size)
        check_choice("strings", strings, STRINGS)
        if find_spec("sentence_transformers") is None:
            raise MissingDependencyError(
                f"the model {str(model)!r} needs the package sentence-transformers, which is not installed",
                hint="pip install 'deadheat[embed]' (with PyTorch, a large package)",
            )
        self.model = str(model)
        self.device, self.normalise, self.strings = device, bool(normalise), strings
        self.query_prompt, self.document_prompt, self.revision = query_prompt, document_prompt, revision
        folder = default_folder() if cache is None else cache
        self._folder = Path(folder) / "embeddings" if folder else None
        self.options = options_of(self, "normalise", "query_prompt", "document_prompt", "strings", "revision")
        self.name = name or written(name_of(self.model), Embedding, self.options)
        self._strings: Strings | None = None

    def __repr__(self) -> str:
        return f"Embedding({self.model!r})"

    @property
    def key(self) -> dict[str, object]:
        """What its results depend on, beside the documents."""
        return {
            "retriever": "embedding",
            "model": self._identity,
            **self.options,
            "sentence-transformers": metadata.version("sentence-transformers"),
        }

    @cached_property
    def _identity(self) -> str:
        return identity_of(self.model)

    def index(self, documents: Collection) -> None:
        """Embed the documents that are to be searched, or find their embeddings in the cache."""
        strings = Strings.of(documents, self.strings)
        distinct, place = _distinct(strings.texts)
        key = {name: value for name, value in self.key.items() if name != "query_prompt"}
        name = f"{hash_of({**key, 'collection': documents.fingerprint})}.npy"
        path = None if self._folder is None else self._folder / name
        vectors = kept(
            path,
            len(distinct),
            lambda: self._embed(
                distinct,
                self._prompt(self.document_prompt, ["document", "passage", "corpus"]),
                f"{self.name}: {documents.name}",
                path,
            ),
        )
        for part in path.parent.glob(f"{path.stem}.*.part") if path is not None and path.is_file() else ():
            part.unlink(missing_ok=True)  # the whole file holds it
        self._vectors, self._place, self._strings = rounded(vectors), place, strings

    def search(self, texts: Sequence[str], k: int) -> Hits:
        """Return the k best documents of each text, and all that tie with the last of them."""
        strings = check_search(self, self._strings, texts, k)
        distinct, place = _distinct(texts)
        queries = rounded(self._embed(distinct, self._prompt(self.query_prompt, ["query"]), f"{self.name}: searching"))
        size = max(1, MAX_CELLS // max(1, len(self._place)))
        parts = []
        for start in range(0, len(queries), size):
            scores = products(queries[start : start + size], self._vectors)
            parts += [top(row, k) for row in strings.best(np.take(scores, self._place, axis=1))]
        return Hits.of_parts(strings.doc_ids, [parts[row] for row in place.tolist()])

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401 - a package that may not be there
        """The model, loaded when it is first needed."""
        library = import_module("sentence_transformers")
        try:
            with _quiet():
                return library.SentenceTransformer(self.model, device=self.device, revision=self.revision)
        except Exception as error:
            reason = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
            raise ParameterError(
                f"cannot load the model {self.model!r}: {reason}",
                hint=(
                    "A retriever is 'bm25', the path of a run file, the folder of a sentence-transformers model, or the"
                    " name of one that can be fetched or was fetched before"
                ),
            ) from error

    def _prompt(self, given: str | None, names: Sequence[str]) -> str | None:
        """Return what to put before texts: what was given, or what the model has under one of the names."""
        if given is not None:
            return given
        own: dict[str, str] = getattr(self._model, "prompts", None) or {}
        return next((own[name] for name in names if own.get(name)), None)

    def _embed(self, texts: list[str], prompt: str | None, what: str, path: Path | None = None) -> FloatArray:
        """Return an embedding for each text, of shape (n_texts, n_dimensions); interrupted, go on from kept parts."""
        order = np.argsort([-len(text) for text in texts], kind="stable")  # alike in length: less padding
        parts: list[FloatArray] = []
        with phase(what, len(texts)) as advance:
            for start in range(0, len(texts), PART):
                own = [texts[place] for place in order[start : start + PART].tolist()]
                part = path.with_suffix(f".{start:09}.part") if path and len(texts) > PART else None
                parts.append(kept(part, len(own), partial(self._encode, own, prompt)))
                advance(len(own))
        return np.concatenate(parts)[np.argsort(order)] if parts else np.zeros((0, 0), np.float32)

    def _encode(self, texts: list[str], prompt: str | None) -> FloatArray:
        vectors = self._model.encode(
            texts,
            prompt=prompt,
            batch_size=self.batch_size,
            normalize_embeddings=self.normalise,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        if not np.isfinite(vectors).all():
            raise ParameterError(f"the model {self.model!r} gave embeddings that are not finite", allowed="numbers")
        return np.asarray(vectors, np.float32)


def identity_of(model: str) -> str:
    """Return what tells a model from others: the name of one on the hub, a hash of all files of one in a folder."""
    folder = Path(model)
    if not os.path.isdir(folder):  # noqa: PTH112 - of Path it raises for a text that is too long for a name
        return model
    found = hashlib.sha256()
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found.update(json.dumps([path.relative_to(folder).as_posix(), digest]).encode())
    return found.hexdigest()


def _distinct(texts: Sequence[str]) -> tuple[list[str], IntArray]:
    """Return the different texts, and the place of each text among them: equal ones have one embedding, and tie."""
    distinct = list(dict.fromkeys(texts))
    return distinct, find_codes(np.array(texts, object), distinct)


def rounded(vectors: FloatArray) -> FloatArray:
    """Return vectors with so few bits that `products` adds up those of equal length exactly.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n_vectors, n_dimensions)

    Returns
    -------
    ndarray of float32, shape (n_vectors, n_dimensions)
        Off by at most 2^-bits of the largest number of its vector: bits is 22 for 384 dimensions, 21 for 2,048.

    Examples
    --------
    >>> rounded(np.array([[0.75, 1e-9]], np.float32)).tolist()
    [[0.75, 0.0]]
    """
    bits = min(FLOAT32, (FLOAT64 - max(0, vectors.shape[1] - 1).bit_length()) // 2)
    _, exponent = np.frexp(np.abs(vectors).max(axis=1, initial=0, keepdims=True))
    unit = np.ldexp(1.0, exponent - bits)
    return (np.rint(vectors / unit) * unit).astype(np.float32)


def products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the dot product of each row of one matrix with each row of another.

    Parameters
    ----------
    left : ndarray of float32, shape (n_left, n_dimensions)
    right : ndarray of float32, shape (n_right, n_dimensions)
        Both of them `rounded`.

    Returns
    -------
    ndarray of float32, shape (n_left, n_right)
        Each number is the same whatever the other rows are, how many, and on how many threads. Beyond float32, it is
        infinite.
    """
    found = np.empty((len(left), len(right)), np.float32)
    wide = left.astype(np.float64)
    for start in range(0, len(right), ROWS):
        part = slice(start, start + ROWS)
        with np.errstate(over="ignore", invalid="ignore"):  # what is infinite is an error where the document is known
            found[:, part] = wide @ right[part].astype(np.float64).T + 0.0  # never -0.0
    return found


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the bar that transformers draws while it loads a model off the screen."""
    logging = sys.modules.get("transformers.utils.logging")  # sentence-transformers has loaded it
    if logging is None or not logging.is_progress_bar_enabled():
        yield
        return
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.enable_progress_bar()


def default_folder() -> Path:
    """Return the user's cache folder on this platform, or that of the environment."""
    environ, home = os.environ, Path.home()
    caches = {
        "darwin": home / "Library" / "Caches",
        "win32": Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local"),
    }
    base = caches.get(sys.platform, Path(environ.get("XDG_CACHE_HOME") or home / ".cache"))
    return Path(environ.get(ENVIRONMENT) or base / "deadheat")


def kept(path: Path | None, n_rows: int, make: Callable[[], FloatArray]) -> FloatArray:
    """Return the embeddings in a file, unless it is damaged; else make and keep them, and warn if that fails."""
    if path is None:
        return make()
    with suppress(OSError, ValueError, EOFError):
        found: FloatArray = np.load(path, allow_pickle=False)
        if found.ndim == 2 and len(found) == n_rows and found.dtype == np.float32:
            return found
    vectors = make()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path) as file:
            np.save(file, vectors, allow_pickle=False)
    except (OSError, DataError) as error:
        warnings.warn(
            f"embeddings cannot be kept in {path.parent} ({error}): set ${ENVIRONMENT} or cache=",
            DeadheatWarning,
            stacklevel=3,
        )
    return vectors


def name_of(model: str) -> str:
    """Return the last part of the name of a model.

    For one in a folder, the first of these that exists: ``model_name``, ``model_id`` or ``model-index`` in the head of
    the card (README.md), the title of the card, the folder.
    """
    folder = Path(model)
    try:
        card = (folder / "README.md").read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):  # no folder, or one without a card
        card = ""
    front = FRONT.match(card)
    head, start = (front[1], front.end()) if front else ("", 0)
    fields = (re.search(FIELD.format(name), head, re.MULTILINE) for name in ("model_name", "model_id", "model-index"))
    for found in filter(None, (*fields, TITLE.search(card, start))):
        name = " ".join(re.sub("[*`]", "", found[1]).split()).strip("'\"").rstrip("/")
        if " " not in name:
            name = name.rpartition("/")[2]
        is_name = name.isprintable() and 0 < len(name) <= LONGEST and not re.search(r"[<>\[\]|]", name)
        if is_name and name != "SentenceTransformer":  # what the library writes if it knows no name
            return name
    return folder.absolute().name


TOKENS = r"(?u)\b\w\w+\b"  # bm25s's and scikit-learn's
METHODS = ("lucene", "robertson", "atire", "bm25l", "bm25+")
CASES = "cases"  # the language of the cases

DISTANCES = {"levenshtein": "Levenshtein", "indel": "Indel"}  # the modules of rapidfuzz.distance
MAX_SIMILARITIES = 1 << 23  # of a matrix of similarities: 64 MB


def folded_accents(word: str) -> str:
    """Return a word in lower case without accents.

    Examples
    --------
    >>> folded_accents("crâniosynostose"), folded_accents("Größe")
    ('craniosynostose', 'grosse')
    """
    return "".join(sign for sign in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(sign))


class BM25:
    r"""Search by BM25; a document scores by its best string.

    Words are taken in lower case, and without stemming unless that is asked for; documents that share no word with a
    text are not found, so that a text may find fewer than k.

    Parameters
    ----------
    method : {"lucene", "robertson", "atire", "bm25l", "bm25+"}, default "lucene"
    k1 : float, default 1.5
        How soon a repeated word stops counting; 0 or more. With 0 it counts like a single one; bm25l then gives every
        document that shares a word the same score.
    b : float, default 0.75
        How far long strings are marked down, from 0 to 1.
    stopwords : str, sequence of str or None, default "english"
        Words that do not count: a language that bm25s has a list for ("german", "french", ...), the words, or None.
    strings : {"best", "joined"}, default "best"
        A document scores by its best string; or all its strings are one text.
    token_pattern : str, default r"(?u)\b\w\w+\b"
        A regular expression for words: runs of two or more letters and digits, as in bm25s and scikit-learn, so that
        "hepatitis B" and "hepatitis C" are one text. ``r"\w+"`` keeps words of one letter. With a group, the word
        is what the group holds.
    language : str, optional
        The language of texts and documents: a code such as "fr", or "cases" for that of the cases that are searched
        for; those without one are searched as without this option. The stop words are then those of the
        language unless others are named; "english" counts as not named.
    stem : bool, default False
        Whether words are cut to their stems, by Snowball's stemmer of the language (PyStemmer).
    fold_accents : bool, default False
        Whether letters lose their accents, once stop words are left out and words are stemmed.
    name : str, optional
        By default "bm25" and the options that differ from these.

    Raises
    ------
    ParameterError
        An option is out of its range.
    MissingDependencyError
        bm25s is not installed, or PyStemmer where words are stemmed.

    References
    ----------
    C. Kamphuis, A. P. de Vries, L. Boytsov, J. Lin, "Which BM25 do you mean?", ECIR 2020.
    doi:10.1007/978-3-030-45442-5_4

    Examples
    --------
    >>> from deadheat import Collection
    >>> viruses = Collection("viruses", ("hbv", "hcv"), ("hepatitis B", "hepatitis C"), ((), ()))
    >>> for retriever in (BM25(), BM25(token_pattern=r"\w+")):
    ...     retriever.index(viruses)
    ...     hits = retriever.search(["hepatitis C"], 1)
    ...     print(hits.doc_id.tolist())
    ['hbv', 'hcv']
    ['hcv']
    >>> BM25(language="fr").words_in(None)
    'French stop words'
    """

    def __init__(
        self,
        *,
        method: str = "lucene",
        k1: float = 1.5,
        b: float = 0.75,
        stopwords: str | Sequence[str] | None = "english",
        strings: str = "best",
        token_pattern: str = TOKENS,
        language: str | None = None,
        stem: bool = False,
        fold_accents: bool = False,
        name: str | None = None,
    ) -> None:
        check_choice("method", method, METHODS)
        check_choice("strings", strings, STRINGS)
        self._bm25s = import_package("bm25s", "BM25 needs the package bm25s", "retrievers")
        self.k1, self.b = float(as_number("k1", k1, 0)), float(as_number("b", b, 0, 1))
        self.method, self.strings = method, strings
        self.token_pattern = _checked_pattern(token_pattern)
        self.stopwords = stopwords if stopwords is None or isinstance(stopwords, str) else tuple(stopwords)
        self.language, self.stem, self.fold_accents = _checked_language(language, stem=stem), stem, fold_accents
        # the language of its words; None where it is that of the cases
        self._own = None if self.language == CASES else self.language
        self._stopped: Any = self.stopwords
        if self.language is not None and stopwords == "english":  # those of the language, if it has a list
            own = NAMES.get(base(self._own or ""), "")
            self._stopped = own if self._has_stopwords(own) else None
        if self.stem:
            _stemming()  # which may be missing
        if isinstance(self._stopped, str) and not self._has_stopwords(self._stopped):
            raise ParameterError(
                argument="stopwords",
                given=self.stopwords,
                allowed="a language that bm25s has a list for (english, german, french, spanish, dutch, ...), a list of"
                " words or None",
            )
        self.options = options_of(self, "method", "k1", "b", "stopwords", "strings", "token_pattern")
        self._of_language = options_of(self, "language", "stem", "fold_accents")
        self.name = name or written("bm25", BM25, {**self.options, **self._of_language})
        self._in: dict[str | None, BM25] = {}
        self._strings: Strings | None = None

    def __repr__(self) -> str:
        return written("BM25", BM25, {**self.options, **self._of_language})

    @property
    def key(self) -> dict[str, object]:
        """What its results depend on, beside the documents."""
        # the key from before there were languages, so that older runs are found again
        of_language = {name: value for name, value in self._of_language.items() if value}
        stemmer = {"PyStemmer": _stemming() and metadata.version("PyStemmer")} if self.stem else {}
        return {"retriever": "bm25", **self.options, **of_language, "bm25s": metadata.version("bm25s"), **stemmer}

    def in_language(self, language: str | None) -> "BM25":
        """Return the retriever for cases in a language: itself, unless its words are those of the cases' language."""
        if self.language != CASES:
            return self
        if language not in self._in:
            if language is not None and not is_code(language):
                raise DataError(
                    f"{self.name} takes the words of the cases' language: that of some cases is no code",
                    given=language,
                    allowed=ALLOWED,
                    hint=near_code(language),
                )
            own = {**self.options, **self._of_language, "language": language, "name": self.name}
            self._in[language] = BM25(**(own if language else {**own, "stem": False}))  # type: ignore[arg-type]
        return self._in[language]

    @property
    def is_english(self) -> bool:
        """Whether it takes words as English, with no more than stop words."""
        return self._stopped == "english" and not (self.stem or self.fold_accents)

    def words_in(self, language: str | None) -> str:
        """Say how words are taken for cases in a language."""
        own = self.in_language(language)
        if own is not self:
            return own.words_in(language)
        stopped = "stop words as given" if self._stopped else "no stop words"
        parts = [f"{self._stopped.capitalize()} stop words" if isinstance(self._stopped, str) else stopped]
        if self.stem and self._own:
            parts.append(
                "stemmed by Snowball" if self._stemmer else f"not stemmed (Snowball does not know {self._own})"
            )
        return ", ".join([*parts, *["accents folded"] * self.fold_accents])

    @cached_property
    def _stemmer(self) -> Any:  # noqa: ANN401 - published without types
        """The stemmer of the language; None if there is none, or words are not cut."""
        name, library = NAMES.get(base(self._own or ""), ""), _stemming() if self.stem else None
        return library.Stemmer(name) if library and name in library.algorithms() else None

    def index(self, documents: Collection) -> None:
        """Take the documents that are to be searched."""
        self._strings = Strings.of(documents, self.strings)
        # bm25+ has 0 / 0 for a word that is not there if k1 is 0: its limit is 0. 1e-30 adds nothing to a number of
        # words, also in float32
        self._index = self._bm25s.BM25(
            method=self.method, k1=max(self.k1, 1e-30) if self.method == "bm25+" else self.k1, b=self.b
        )
        tokens = self._tokens(self._strings.texts)
        if not any(tokens):
            raise ParameterError(
                f"no string of the {len(documents):,} documents has a word that BM25 counts, by {self.token_pattern!r}"
            )
        self._index.index(tokens, show_progress=False)

    def search(self, texts: Sequence[str], k: int) -> Hits:
        """Return the k best documents of each text, and all that tie with the last of them."""
        strings = check_search(self, self._strings, texts, k)
        return Hits.of_parts(strings.doc_ids, [self._search(words, strings, k) for words in self._tokens(texts)])

    def _search(self, words: list[str], strings: Strings, k: int) -> tuple[IntArray, FloatArray]:
        """Return places and scores of the best documents for the words of a text."""
        if not words:
            return np.zeros(0, np.int64), np.zeros(0)
        # a score does not tell who shares a word: bm25l and bm25+ raise every string, robertson and atire give 0 for a
        # word that is common
        scores = strings.best(np.where(self._shares_a_word(words), self._index.get_scores(words), -np.inf))
        return top(scores, k, above=-np.inf)

    def _shares_a_word(self, words: list[str]) -> BoolArray:
        """Return which strings have any of some words, of shape (n_strings,)."""
        starts, holders = self._index.scores["indptr"], self._index.scores["indices"]
        shares = np.zeros(int(self._index.scores["num_docs"]), np.bool_)
        for word in self._index.get_tokens_ids(words):
            shares[holders[starts[word] : starts[word + 1]]] = True
        return shares

    def _tokens(self, texts: Sequence[str]) -> list[list[str]]:
        split: list[list[str]] = self._bm25s.tokenize(
            list(texts),
            token_pattern=self.token_pattern,
            stopwords=list(self._stopped) if isinstance(self._stopped, tuple) else self._stopped,
            return_ids=False,
            show_progress=False,
        )
        stem = str if self._stemmer is None else self._stemmer.stemWord
        fold = folded_accents if self.fold_accents else str
        forms = {word: fold(stem(word)) for word in set(chain.from_iterable(split))}
        return [[forms[word] for word in words] for words in split]

    def _has_stopwords(self, words: str) -> bool:
        try:
            self._bm25s.tokenize(["a"], stopwords=words, return_ids=False, show_progress=False)
        except ValueError:
            return False
        return True


def _checked_language(given: str | None, *, stem: bool) -> str | None:
    """Return the language, or "cases"; stems need one."""
    if given is None and stem:
        raise ParameterError(
            "needs a language", argument="stem", hint="language='cases' is that of each case, 'fr' is French"
        )
    return given if given in {None, CASES} else checked_code("language", given)


def _checked_pattern(given: str) -> str:
    """Return a regular expression that finds one text, which is not empty, for each word."""
    expected = f"token_pattern must be a regular expression such as {TOKENS!r}"
    pattern = as_pattern("token_pattern", given, TOKENS)
    if pattern.groups > 1 or pattern.fullmatch("") is not None:
        raise ParameterError(f"{expected}, with one group at most and no match in an empty text", given=given)
    return given


def _stemming() -> Any:  # noqa: ANN401 - published without types
    return import_package("Stemmer", "stems of words need the package PyStemmer", "stemming")


class StringSimilarity:
    r"""Search by the similarity of strings: how few characters have to change.

    The score is ``1 - distance / most``, from 0 to 1, in lower case and with single blanks. A document scores by its
    best string. It is a quotient of two whole numbers that a string and the text alone decide, so equal quotients tie:
    short texts have many ties. Documents that score 0 are not found.

    Parameters
    ----------
    method : {"levenshtein", "indel"}, default "levenshtein"
        The distance: of Levenshtein, in which a character is inserted, removed or replaced, over the length of the
        longer string; or with insertions and removals alone, over the sum of both lengths.
    name : str, optional
        By default "string" and the options that differ from these.

    Raises
    ------
    ParameterError
        There is no such method.
    MissingDependencyError
        rapidfuzz is not installed.

    References
    ----------
    V. I. Levenshtein, "Binary codes capable of correcting deletions, insertions, and reversals", Soviet Physics
    Doklady 10, 1966, 707-710.

    Examples
    --------
    >>> from deadheat import Collection
    >>> viruses = Collection("viruses", ("hbv", "hcv"), ("hepatitis B", "hepatitis C"), ((), ()))
    >>> retriever = StringSimilarity()
    >>> retriever.index(viruses)
    >>> hits = retriever.search(["Hepatitis", "hepatitis c"], 1)
    >>> list(zip(hits.text.tolist(), hits.doc_id, hits.score.round(4).tolist()))
    [(0, 'hbv', 0.8182), (0, 'hcv', 0.8182), (1, 'hcv', 1.0)]
    """

    def __init__(self, *, method: str = "levenshtein", name: str | None = None) -> None:
        check_choice("method", method, tuple(DISTANCES))
        needs = "string similarity needs the package rapidfuzz", "retrievers"
        self._process = import_package("rapidfuzz.process", *needs)
        self._scorer = getattr(import_package("rapidfuzz.distance", *needs), DISTANCES[method]).normalized_similarity
        self.method = method
        self.options = options_of(self, "method")
        self.name = name or written("string", StringSimilarity, self.options)
        self._strings: Strings | None = None

    def __repr__(self) -> str:
        return written("StringSimilarity", StringSimilarity, self.options)

    @property
    def key(self) -> dict[str, object]:
        """What its results depend on, beside the documents."""
        return {"retriever": "string", **self.options, "rapidfuzz": metadata.version("rapidfuzz")}

    def index(self, documents: Collection) -> None:
        """Take the documents that are to be searched."""
        self._strings = Strings.of(documents)
        self._texts = [_lower(text) for text in self._strings.texts]

    def search(self, texts: Sequence[str], k: int) -> Hits:
        """Return the k best documents of each text, and all that tie with the last of them."""
        strings = check_search(self, self._strings, texts, k)
        step = max(1, MAX_SIMILARITIES // len(self._texts))
        parts = []
        for start in range(0, len(texts), step):
            similar = self._process.cdist(
                [_lower(text) for text in texts[start : start + step]],
                self._texts,
                scorer=self._scorer,
                dtype=np.float64,
                workers=-1,
            )
            parts += [top(scores, k, above=0) for scores in strings.best(similar)]
        return Hits.of_parts(strings.doc_ids, parts)


def _lower(text: str) -> str:
    return " ".join(text.split()).lower()
