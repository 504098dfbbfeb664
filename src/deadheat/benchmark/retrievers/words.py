"""What counts as a word in a language: stop words that do not count, stems, and accents."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module, metadata
from typing import Any

from deadheat.benchmark.languages import NAMES, base
from deadheat.errors import MissingDependencyError

# of NAMES, those that bm25s has stop words for
STOPPED = ("da", "de", "en", "es", "fr", "it", "nl", "no", "pt", "ru", "sv", "tr", "zh")


@dataclass(frozen=True)
class Words:
    """How the words of one language are taken.

    Attributes
    ----------
    language : str or None
        None: of no language in particular.
    stopwords : str, tuple of str or None
        A list of bm25s by name, the words, or none.
    stem : bool
        Whether words are cut to their stems by Snowball, if it knows the language.
    fold_accents : bool
        Whether letters lose their accents, after stemming, which needs them.
    """

    language: str | None
    stopwords: str | tuple[str, ...] | None
    stem: bool = False
    fold_accents: bool = False
    _known: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __str__(self) -> str:
        """Return it in words.

        Examples
        --------
        >>> str(Words("fr", "french")), str(Words("ja", None, fold_accents=True))
        ('French stop words', 'no stop words, accents folded')
        """
        own = self.stopwords
        stop = "no stop words" if own is None else "stop words as given" if isinstance(own, tuple) else ""
        parts = [stop or f"{str(own).capitalize()} stop words"]
        if self.stem:
            parts.append(
                "stemmed by Snowball" if self.stemmer else f"not stemmed (Snowball does not know {self.language})"
            )
        return ", ".join([*parts, *(["accents folded"] if self.fold_accents else [])])

    @cached_property
    def stemmer(self) -> Any:  # noqa: ANN401 - published without types
        """The stemmer of the language; None if there is none."""
        name = NAMES.get(base(self.language or ""), "")
        library = _library()
        return library.Stemmer(name) if name in library.algorithms() else None

    def forms(self, texts: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return words as they are matched."""
        if not (self.stem or self.fold_accents):
            return [list(words) for words in texts]
        return [[self._form(word) for word in words] for words in texts]

    def _form(self, word: str) -> str:
        if word not in self._known:
            found = self.stemmer.stemWord(word) if self.stem and self.stemmer else word
            self._known[word] = folded_accents(found) if self.fold_accents else found
        return self._known[word]


def folded_accents(word: str) -> str:
    """Return a word in lower case without accents.

    Examples
    --------
    >>> folded_accents("crâniosynostose"), folded_accents("Größe")
    ('craniosynostose', 'grosse')
    """
    bare = unicodedata.normalize("NFKD", word.casefold())
    return "".join(sign for sign in bare if not unicodedata.combining(sign))


def stopwords_of(language: str | None) -> str | None:
    """Return the name of a language's stop words; None where there is no list.

    Examples
    --------
    >>> stopwords_of("pt-br"), stopwords_of("ja"), stopwords_of(None)
    ('portuguese', None, None)
    """
    code = base(language or "")
    return NAMES[code] if code in STOPPED else None


def stemmer_version() -> str:
    """Return the version of PyStemmer, which results depend on."""
    _library()
    return metadata.version("PyStemmer")


def _library() -> Any:  # noqa: ANN401 - as above
    try:
        return import_module("Stemmer")
    except ImportError as error:
        raise MissingDependencyError(
            "stems of words need the package PyStemmer, which is not installed", hint="pip install 'deadheat[stemming]'"
        ) from error
