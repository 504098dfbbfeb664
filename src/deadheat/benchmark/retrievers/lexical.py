"""Search by the letters of texts: by words, which is BM25 by the package bm25s, and by characters, by rapidfuzz.

With what counts as a word in a language: stop words, stems, and accents.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property
from importlib import metadata
from typing import Any

import numpy as np

from deadheat.arrays import BoolArray, FloatArray, IntArray
from deadheat.benchmark.collection import Collection
from deadheat.benchmark.languages import ALLOWED, NAMES, base, is_code, near_code
from deadheat.benchmark.retrievers.protocol import (
    STRINGS,
    Hits,
    Strings,
    check_indexed,
    check_number,
    check_search,
    options_of,
    top,
    written,
)
from deadheat.errors import DataError, ParameterError, check_choice, package

# of NAMES, those that bm25s has stop words for
STOPPED = ("da", "de", "en", "es", "fr", "it", "nl", "no", "pt", "ru", "sv", "tr", "zh")
TOKENS = r"(?u)\b\w\w+\b"  # bm25s's and scikit-learn's
METHODS = ("lucene", "robertson", "atire", "bm25l", "bm25+")
CASES = "cases"  # the language of the cases
DEFAULT_STOPWORDS = "english"
DISTANCES = {"levenshtein": "Levenshtein", "indel": "Indel"}  # the modules of rapidfuzz.distance
MAX_CELLS = 1 << 23  # of a matrix of similarities: 64 MB
ALMOST_0 = 1e-30  # a k1 that adds nothing to a number of words, also in float32


def folded_accents(word: str) -> str:
    """Return a word in lower case without accents.

    Examples
    --------
    >>> folded_accents("crâniosynostose"), folded_accents("Größe")
    ('craniosynostose', 'grosse')
    """
    bare = unicodedata.normalize("NFKD", word.casefold())
    return "".join(sign for sign in bare if not unicodedata.combining(sign))


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
        self._bm25s = package("bm25s", "BM25 needs the package bm25s", "retrievers")
        self.method, self.k1, self.b, self.strings = method, float(k1), float(b), strings
        self.token_pattern = _checked_pattern(token_pattern)
        self.stopwords = stopwords if stopwords is None or isinstance(stopwords, str) else tuple(stopwords)
        self.language, self.stem, self.fold_accents = _checked_language(language, stem=stem), stem, fold_accents
        # the language of its words; None where it is that of the cases
        self._own = None if self.language == CASES else self.language
        self._stopped: Any = self.stopwords
        if self.language is not None and stopwords == DEFAULT_STOPWORDS:  # those of the language, if it has a list
            code = base(self._own or "")
            self._stopped = NAMES[code] if code in STOPPED and self._has_stopwords(NAMES[code]) else None
        self._known: dict[str, str] = {}
        if self.stem:
            _stemming()  # which may be missing
        if isinstance(self._stopped, str) and not self._has_stopwords(self._stopped):
            languages = "english, german, french, spanish, dutch, ..."
            raise ParameterError(
                argument="stopwords",
                given=self.stopwords,
                allowed=f"a language that bm25s has a list for ({languages}), a list of words or None",
            )
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

    def words_in(self, language: str | None) -> str:
        """Return in words how words are taken for cases in a language."""
        own = self.in_language(language)
        if own is not self:
            return own.words_in(language)
        if self._stopped is None or isinstance(self._stopped, tuple):
            parts = ["no stop words" if self._stopped is None else "stop words as given"]
        else:
            parts = [f"{self._stopped.capitalize()} stop words"]
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

    def _form(self, word: str) -> str:
        """Return a word as it is matched."""
        if word not in self._known:
            found = self._stemmer.stemWord(word) if self._stemmer else word
            self._known[word] = folded_accents(found) if self.fold_accents else found
        return self._known[word]

    def index(self, documents: Collection) -> None:
        """Take the documents that are to be searched."""
        self._strings = Strings.of(documents, self.strings)
        # bm25+ has 0 / 0 for a word that is not there if k1 is 0: its limit is 0
        self._index = self._bm25s.BM25(
            method=self.method, k1=max(self.k1, ALMOST_0) if self.method == "bm25+" else self.k1, b=self.b
        )
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
        split: list[list[str]] = self._bm25s.tokenize(
            list(texts),
            token_pattern=self.token_pattern,
            stopwords=list(self._stopped) if isinstance(self._stopped, tuple) else self._stopped,
            return_ids=False,
            show_progress=False,
        )
        is_changed = self.fold_accents or self._stemmer is not None
        return [[self._form(word) for word in words] for words in split] if is_changed else split

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
    if given is not None and given != CASES and not is_code(given):
        raise ParameterError(argument="language", given=given, allowed=f"{CASES!r} or {ALLOWED}", hint=near_code(given))
    return given


def _checked_pattern(given: str) -> str:
    """Return a regular expression that finds one text, which is not empty, for each word."""
    expected = f"token_pattern must be a regular expression such as {TOKENS!r}"
    try:
        pattern = re.compile(given)
        is_wrong = pattern.groups > 1 or pattern.fullmatch("") is not None
    except (re.error, TypeError) as error:
        raise ParameterError(expected, given=given, hint=f"{error}") from error
    if is_wrong:
        raise ParameterError(f"{expected}, with one group at most and no match in an empty text", given=given)
    return given


def _stemming() -> Any:  # noqa: ANN401 - published without types
    return package("Stemmer", "stems of words need the package PyStemmer", "stemming")


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
        self._process = package("rapidfuzz.process", *needs)
        self._scorer = getattr(package("rapidfuzz.distance", *needs), DISTANCES[method]).normalized_similarity
        self.method = method
        self.options = options_of(self, "method")
        self.name = name or written("string", StringSimilarity, self.options)
        self._strings: Strings | None = None
        self._texts: list[str] = []

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
        check_search(texts, k)
        strings = check_indexed(self, self._strings)
        step = max(1, MAX_CELLS // len(self._texts))
        parts = []
        for start in range(0, len(texts), step):
            similar = self._process.cdist(
                [_lower(text) for text in texts[start : start + step]],
                self._texts,
                scorer=self._scorer,
                dtype=np.float64,
                workers=-1,
            )
            for scores in strings.best(similar):
                best = top(scores, k)
                best = best[scores[best] > 0]
                parts.append((best, scores[best]))
        return Hits.of_parts(strings.doc_ids, parts)


def _lower(text: str) -> str:
    return " ".join(text.split()).lower()
