"""Which of five languages a text looks like: a heuristic of function words, letters and endings, and no more.

A single medical term is often Greek or Latin and says nothing; then nothing is said of it. Measured on the German
cases for HPO (1,128 phrases), their English descriptions and the labels of HPO's 19,034 terms: no false alarm, and
samples of 20 phrases under a wrong language are found in 96 to 100 of 100. French, Spanish and Dutch phrases were not
measured.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = {"de": "German", "en": "English", "fr": "French", "es": "Spanish", "nl": "Dutch"}
_WRITTEN = {
    "de": {"de", "german", "deutsch", "ger", "deu"},
    "en": {"en", "english", "englisch", "eng"},
    "fr": {"fr", "french", "français", "francais", "fra"},
    "es": {"es", "spanish", "español", "espanol", "spa"},
    "nl": {"nl", "dutch", "nederlands", "nld"},
}
_TOKEN = re.compile(r"[^\W\d_]+")
_LONG = 6  # letters of a word whose ending counts
_OF_WORD = 2  # what a function word counts; a letter and an ending count 1


class _Sign(NamedTuple):
    """What speaks for a language: a function word, a letter, or a word by its ending."""

    kind: str
    what: str


@dataclass(frozen=True)
class _Marks:
    """What is common in a language. Parts of names (de, la, van, von, du, le) are left out: they stand in any."""

    words: frozenset[str]
    letters: frozenset[str]
    endings: tuple[str, ...]


def _marks(words: str, letters: str, endings: str) -> _Marks:
    return _Marks(frozenset(words.split()), frozenset(letters), tuple(endings.split()))


_MARKS = {
    "de": _marks(
        "und oder mit ohne bei beim nicht der des das dem den die ein eine einer eines einem einen ist sind im in am an"
        " zu zum zur vom vor auf aus über unter nach durch für kein keine keiner wie sehr wird hat als sich",
        "äöüß",
        "ung ungen heit keit ität ismus ose isch ische ischer ischen störung mangel",
    ),
    "en": _marks(
        "the of and or with without by to from in on at for not is are was has have due than as an no that which",
        "",
        "ness ity ism ous ing ed ly ency ities isms ings",
    ),
    "fr": _marks(
        "et ou les des aux au avec sans dans une un par pour est sur chez pas non d l que qui en",
        "éèêçàùœâîôû",
        "ité isme eux euse ique iques aire oire ée ées ement",
    ),
    "es": _marks(
        "y o el los las con sin por para una un unos en al que se es no más",
        "ñáíóúé",
        "ción ciones dad ismo ico ica icos icas encia ado ada iento osa oso",
    ),
    "nl": _marks(
        "het een en of met zonder bij niet door naar aan voor op uit te in is zijn als om dan over",
        "",
        "heid lijk lijke ing ingen isch ische atie aties iteit isme stoornis",
    ),
}


def normalised(language: str | None) -> str | None:
    """Return a language code in one spelling.

    Examples
    --------
    >>> normalised("EN"), normalised("en_GB"), normalised(None)
    ('en', 'en-gb', None)
    """
    return None if language is None else language.strip().lower().replace("_", "-") or None


def known(language: str | None) -> str | None:
    """Return the part of a language code that this heuristic knows: ``"de"`` of ``"de-AT"``; None if it does not."""
    code = (language or "").split("-")[0].lower()
    return code if code in _MARKS else None


def code_of(name: str) -> str | None:
    """Return the code of a language that is written out, in English or by itself.

    Examples
    --------
    >>> code_of("German"), code_of("deutsch"), code_of("DE"), code_of("Latin")
    ('de', 'de', 'de', None)
    """
    folded = name.strip().casefold()
    return next((code for code, names in _WRITTEN.items() if folded in names), None)


def guess(texts: Sequence[str]) -> str | None:
    """Return the language that a set of texts looks like, if it looks clearly more like it than like any other.

    For each other language, five texts at least have signs of the one and none of the other, and five times as many as
    the other way round.
    """
    signs = [_signs(text) for text in texts]
    found = (code for code in _MARKS if all(_is_more_like(signs, code, other) for other in _MARKS if other != code))
    return next(found, None)


def strangers(texts: Sequence[str], language: str) -> list[tuple[int, str]]:
    """Return the texts that are clearly in another language: two function words of it, and no sign of their own.

    Parameters
    ----------
    texts : sequence of str
    language : str
        One that is `known`.

    Returns
    -------
    list of (int, str)
        The place of each such text, and the language that it looks like.
    """
    found = []
    for place, text in enumerate(texts):
        signs = _signs(text)
        for other in _MARKS:
            words = {sign for sign in signs[other] - signs[language] if sign.kind == "word"}
            if len(words) >= 2 and not signs[language] - signs[other] and _looks_most_like(signs, other):
                found.append((place, other))
    return found


def _signs(text: str) -> dict[str, frozenset[_Sign]]:
    """Return what a text has of each language."""
    folded = text.casefold()
    words, letters = set(_TOKEN.findall(folded)), set(folded)
    long = [word for word in words if len(word) >= _LONG]
    return {
        code: frozenset(
            [
                *(_Sign("word", word) for word in words & marks.words),
                *(_Sign("letter", letter) for letter in letters & marks.letters),
                *(_Sign("ending", word) for word in long if word.endswith(marks.endings)),
            ]
        )
        for code, marks in _MARKS.items()
    }


def _is_more_like(texts: Sequence[dict[str, frozenset[_Sign]]], language: str, other: str) -> bool:
    n_for = sum(bool(signs[language] - signs[other]) and not signs[other] - signs[language] for signs in texts)
    n_against = sum(bool(signs[other] - signs[language]) and not signs[language] - signs[other] for signs in texts)
    return n_for >= 5 * max(n_against, 1)


def _looks_most_like(signs: dict[str, frozenset[_Sign]], language: str) -> bool:
    own = signs[language]
    return all(_weight(own - other) > _weight(other - own) for code, other in signs.items() if code != language)


def _weight(signs: frozenset[_Sign]) -> int:
    return sum(_OF_WORD if sign.kind == "word" else 1 for sign in signs)
