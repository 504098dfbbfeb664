"""BM25, by the package bm25s."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module, metadata
from typing import Any

import numpy as np

from deadheat.arguments import check_choice
from deadheat.arrays import BoolArray, FloatArray, IntArray
from deadheat.benchmark.collection import Collection
from deadheat.benchmark.languages import ALLOWED, is_code, near_code
from deadheat.benchmark.retrievers.options import check_indexed, check_number, check_search, options_of, written
from deadheat.benchmark.retrievers.protocol import Hits
from deadheat.benchmark.retrievers.strings import STRINGS, Strings, top
from deadheat.benchmark.retrievers.words import Words, stemmer_version, stopwords_of
from deadheat.errors import DataError, MissingDependencyError, ParameterError

TOKENS = r"(?u)\b\w\w+\b"  # bm25s's and scikit-learn's
METHODS = ("lucene", "robertson", "atire", "bm25l", "bm25+")
CASES = "cases"  # the language of the cases
DEFAULT_STOPWORDS = "english"
ALMOST_0 = 1e-30  # a k1 that adds nothing to a number of words, also in float32


class BM25:
    r"""Search by BM25, the strings of a document each by itself.

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
        "hepatitis B" is no other text than "hepatitis C". ``r"\w+"`` keeps words of one letter. With a group, the word
        is what the group holds.
    language : str, optional
        The language of texts and documents: a code such as "fr", or "cases" for that of the cases that are searched
        for; of those without one, words are taken as without this option. The stop words are then those of the
        language unless others are named; "english" counts as not named.
    stem : bool, default False
        Whether words are cut to their stems, by Snowball's stemmer of the language (PyStemmer).
    fold_accents : bool, default False
        Whether letters lose their accents, after stop words are left out and words are stemmed.
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
        check_number("k1", k1, low=0)
        check_number("b", b, low=0, high=1)
        self._bm25s = _library()
        self.method, self.k1, self.b, self.strings = method, float(k1), float(b), strings
        self.token_pattern = _checked_pattern(token_pattern)
        self.stopwords = stopwords if stopwords is None or isinstance(stopwords, str) else tuple(stopwords)
        self.language, self.stem, self.fold_accents = _checked_language(language, stem=stem), stem, fold_accents
        self._words = self._words_of(None if language == CASES else language)
        self._check_stopwords()
        self.options = options_of(self, "method", "k1", "b", "stopwords", "strings", "token_pattern")
        self._of_language = options_of(self, "language", "stem", "fold_accents")
        self.name = name or written("bm25", BM25, {**self.options, **self._of_language})
        self._in: dict[str | None, BM25] = {}
        self._strings: Strings | None = None
        self._index: Any = None

    def __repr__(self) -> str:
        return written("BM25", BM25, {**self.options, **self._of_language})

    @property
    def key(self) -> dict[str, object]:
        """What its results depend on, beside the documents."""
        # what was there before languages were: runs of it are found again
        of_language = {name: value for name, value in self._of_language.items() if value}
        stemmer = {"PyStemmer": stemmer_version()} if self.stem else {}
        return {"retriever": "bm25", **self.options, **of_language, "bm25s": metadata.version("bm25s"), **stemmer}

    def in_language(self, language: str | None) -> BM25:
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

    def words_in(self, language: str | None) -> str:
        """Return in words how words are taken for cases in a language."""
        return str(self.in_language(language)._words)  # noqa: SLF001 - of its class

    def _words_of(self, language: str | None) -> Words:
        is_own = self.language is not None and self.stopwords == DEFAULT_STOPWORDS
        stopwords = stopwords_of(language) if is_own else self.stopwords
        if is_own and isinstance(stopwords, str) and not self._has_stopwords(stopwords):  # an early bm25s
            stopwords = None
        return Words(language, stopwords, stem=self.stem and language is not None, fold_accents=self.fold_accents)

    def index(self, documents: Collection) -> None:
        """Take the documents that are to be searched."""
        self._strings = Strings.of(documents, self.strings)
        # bm25+ has 0 / 0 for a word that is not there if k1 is 0: its limit is 0
        k1 = max(self.k1, ALMOST_0) if self.method == "bm25+" else self.k1
        self._index = self._bm25s.BM25(method=self.method, k1=k1, b=self.b)
        tokens = self._tokens(self._strings.texts)
        if not any(tokens):
            n_documents = f"{len(self._strings.doc_ids):,}"
            raise ParameterError(
                f"no string of the {n_documents} documents has a word that BM25 counts, by {self.token_pattern!r}"
            )
        self._index.index(tokens, show_progress=False)

    def search(self, texts: Sequence[str], k: int) -> Hits:
        """Return the k best documents of each text, and all that tie with the last of them."""
        check_search(texts, k)
        strings = check_indexed(self, self._strings)
        return Hits.of_parts(strings.doc_ids, [self._search(words, strings, k) for words in self._tokens(texts)])

    def _search(self, words: list[str], strings: Strings, k: int) -> tuple[IntArray, FloatArray]:
        """Return places and scores of the best documents for the words of a text."""
        if not words:
            return np.zeros(0, np.int64), np.zeros(0)
        # a score does not tell who shares a word: bm25l and bm25+ raise every string, robertson and atire give 0 for a
        # word that is common
        scores = strings.best(np.where(self._shares_a_word(words), self._index.get_scores(words), -np.inf))
        found = np.flatnonzero(scores != -np.inf)  # NaN is found, so that it is seen
        found = found[top(scores[found], k)]
        return found, scores[found]

    def _shares_a_word(self, words: list[str]) -> BoolArray:
        """Return which strings have any of some words, of shape (n_strings,)."""
        starts, holders = self._index.scores["indptr"], self._index.scores["indices"]
        shares = np.zeros(int(self._index.scores["num_docs"]), np.bool_)
        for word in self._index.get_tokens_ids(words):
            shares[holders[starts[word] : starts[word + 1]]] = True
        return shares

    def _tokens(self, texts: Sequence[str]) -> list[list[str]]:
        stopwords = self._words.stopwords
        words = list(stopwords) if isinstance(stopwords, tuple) else stopwords
        split: list[list[str]] = self._bm25s.tokenize(
            list(texts),
            token_pattern=self.token_pattern,
            stopwords=words,
            return_ids=False,
            show_progress=False,
        )
        return self._words.forms(split)

    def _has_stopwords(self, words: str) -> bool:
        try:
            self._bm25s.tokenize(["a"], stopwords=words, return_ids=False, show_progress=False)
        except ValueError:
            return False
        return True

    def _check_stopwords(self) -> None:
        try:
            self._tokens(["a"])
        except ValueError as error:
            languages = "english, german, french, spanish, dutch, ..."
            allowed = f"a language that bm25s has a list for ({languages}), a list of words or None"
            raise ParameterError(argument="stopwords", given=self.stopwords, allowed=allowed) from error


def _checked_language(given: object, *, stem: bool) -> str | None:
    """Return the language, or "cases"; stems need one."""
    if given is None:
        if stem:
            raise ParameterError(
                "needs a language", argument="stem", hint="language='cases' is that of each case, 'fr' is French"
            )
        return None
    if given == CASES:
        return CASES
    if not isinstance(given, str) or not is_code(given):
        allowed = f"{CASES!r} or {ALLOWED}"
        hint = near_code(given) if isinstance(given, str) else ""
        raise ParameterError(argument="language", given=given, allowed=allowed, hint=hint)
    return given


def _checked_pattern(given: object) -> str:
    """Return a regular expression that finds one text, which is not empty, for each word."""
    expected = f"token_pattern must be a regular expression such as {TOKENS!r}"
    if not isinstance(given, str):
        raise ParameterError(expected, given=given)
    try:
        pattern = re.compile(given)
    except re.error as error:
        raise ParameterError(expected, given=given, hint=f"{error}") from error
    if pattern.groups > 1 or pattern.fullmatch(""):
        raise ParameterError(f"{expected}, with one group at most and no match in an empty text", given=given)
    return given


def _library() -> Any:  # noqa: ANN401 - published without types
    try:
        return import_module("bm25s")
    except ImportError as error:
        raise MissingDependencyError(
            "BM25 needs the package bm25s, which is not installed", hint="pip install 'deadheat[retrievers]'"
        ) from error
