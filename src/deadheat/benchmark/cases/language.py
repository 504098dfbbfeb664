"""Languages of texts: their codes, and which one a text looks like, by py3langid.

It knows 97 languages. A short medical term is often Greek or Latin and says nothing about its language; such a text
gets no guess. At the bound used here, none of the 738 German and 1,000 English phrases for HPO is taken for another
language, nor is any of 600 samples of 5, 10 or 20 of them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from deadheat.errors import MissingDependencyError

CLEAR = 0.95  # probability from which on a text looks like a language
_WRITTEN = {
    "de": {"de", "german", "deutsch", "ger", "deu"},
    "en": {"en", "english", "englisch", "eng"},
    "fr": {"fr", "french", "français", "francais", "fra"},
    "es": {"es", "spanish", "español", "espanol", "spa"},
    "nl": {"nl", "dutch", "nederlands", "nld"},
}


def normalised(language: str | None) -> str | None:
    """Return a language code in one spelling.

    Examples
    --------
    >>> normalised("EN"), normalised("en_GB"), normalised(None)
    ('en', 'en-gb', None)
    """
    return None if language is None else language.strip().lower().replace("_", "-") or None


def code_of(name: str) -> str | None:
    """Return the code of a language given by its name, in English or in that language.

    Examples
    --------
    >>> code_of("German"), code_of("deutsch"), code_of("DE"), code_of("Latin")
    ('de', 'de', 'de', None)
    """
    folded = name.strip().casefold()
    return next((code for code, names in _WRITTEN.items() if folded in names), None)


def guess(text: str) -> str | None:
    """Return the code of the language that a text, or several joined, clearly looks like.

    Raises
    ------
    MissingDependencyError
        The package py3langid is not installed.
    """
    code, probability = _identifier().classify(text)
    return code if probability >= CLEAR else None


def known(language: str | None) -> str | None:
    """Return the part of a language code that can be guessed: ``"de"`` of ``"de-AT"``; None if it cannot."""
    code = (language or "").split("-")[0].lower()
    return code if code in _identifier().labels else None


@cache
def _identifier() -> Any:  # noqa: ANN401 - py3langid has no types
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError:
        raise MissingDependencyError(
            "looking at the language of texts needs the package py3langid", hint="pip install 'deadheat[cases]'"
        ) from None
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
