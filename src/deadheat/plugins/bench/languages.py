"""Languages: their codes, and which one texts look like, by py3langid.

py3langid knows 97 languages. A short medical term is often Greek or Latin and says nothing about its language; such a
text gets no guess. At the bound used here, none of the 738 German and 1,000 English phrases for HPO is taken for
another language, nor is any of 600 samples of 5, 10 or 20 of them.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeGuard

from deadheat.core.errors import MissingDependencyError, ParameterError
from deadheat.core.libraries import import_package
from deadheat.core.wording import did_you_mean

# ISO 639-1, the two-letter codes; of ISO 639-3, which has thousands of three letters, only the form is checked
_ISO_639 = """
    aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en
    eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja
    jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb
    nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq
    sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
CODES = frozenset(_ISO_639.split())
NAMES = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "id": "indonesian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
    "zh": "chinese",
}
OTHERS = {  # further names, in the languages of clinicians
    "de": "deutsch allemand alemán aleman tedesco alemão",
    "en": "englisch anglais inglés ingles inglese inglês",
    "es": "español espanol castellano spanisch espagnol spagnolo espanhol",
    "fr": "français francais französisch francés francese francês",
    "it": "italiano italienisch italien",
    "nl": "nederlands niederländisch néerlandais neerlandés olandese",
    "pl": "polish polski polnisch polonais polaco polacco",
    "pt": "português portugues portugiesisch portugais portugués portoghese",
    "ru": "russisch russe ruso russo",
    "tr": "türkçe türkisch turc turco",
    "uk": "ukrainian ukrainisch",
}
CODES_OF_NAMES = {
    **{own: code for code, own in NAMES.items()},
    **{code: code for code in NAMES},
    **{own: code for code, words in OTHERS.items() for own in words.split()},
}
SAMPLE = 300  # texts, from which the language of many is guessed
CLEAR = 0.95  # probability from which on a text looks like a language
ALLOWED = "a code of ISO 639 such as 'de', 'fr' or 'pt-br'"


def is_code(given: object) -> TypeGuard[str]:
    """Return whether a text is the code of a language, perhaps with a region.

    Examples
    --------
    >>> [is_code(one) for one in ("de", "pt-br", "dtp", "xx", "german", "DE")]
    [True, True, True, False, False, False]
    """
    return (
        isinstance(given, str)
        and re.fullmatch(r"[a-z]{2,3}(-[a-z0-9]{2,8})*", given) is not None
        and (len(base(given)) == 3 or base(given) in CODES)
    )


def base(code: str) -> str:
    """Return the code without its region.

    Examples
    --------
    >>> base("pt-br")
    'pt'
    """
    return code.partition("-")[0]


def normalised(language: str | None) -> str | None:
    """Return a language code in one spelling, also of the name of a language.

    Examples
    --------
    >>> normalised("EN"), normalised("en_GB"), normalised("Spanisch"), normalised(None)
    ('en', 'en-gb', 'es', None)
    """
    return None if language is None else code_of(language) or language.strip().lower().replace("_", "-") or None


def code_of(name: str) -> str | None:
    """Return the code of a language given by its name, in English or another language; None for other words.

    Examples
    --------
    >>> code_of("German"), code_of("deutsch"), code_of("allemand"), code_of("DE"), code_of("Latin")
    ('de', 'de', 'de', 'de', None)
    """
    return CODES_OF_NAMES.get(name.strip().casefold())


def near_code(given: object) -> str:
    """Return ``"Did you mean 'de'?"`` for the name of a language or another spelling of its code, or an empty string.

    Examples
    --------
    >>> near_code("German"), near_code("FR"), near_code("???")
    ("Did you mean 'de'?", "Did you mean 'fr'?", '')
    """
    code = normalised(given) or "" if isinstance(given, str) else ""
    return f"Did you mean {code!r}?" if is_code(code) else did_you_mean(code, CODES)


def checked_code(argument: str, given: object) -> str:
    """Return the code of a language that was given as an argument, or raise `ParameterError`."""
    if not is_code(given):
        raise ParameterError(argument=argument, given=given, allowed=ALLOWED, hint=near_code(given))
    return given


def guess(text: str) -> str | None:
    """Return the code of the language that a text, or several joined, clearly looks like.

    Raises
    ------
    MissingDependencyError
        The package py3langid is not installed.
    """
    code, probability = _identifier().classify(text)
    return code if probability >= CLEAR else None


def likely(texts: Sequence[str]) -> str | None:
    """Return the language that a sample of texts looks like; without py3langid none, as a guess is no result."""
    try:
        return guess(". ".join(texts[:: max(1, len(texts) // SAMPLE)]))
    except MissingDependencyError:
        return None


def known(language: str | None) -> str | None:
    """Return the part of a language code that can be guessed: ``"de"`` of ``"de-AT"``; None if it cannot."""
    code = base((language or "").lower())
    return code if code in _identifier().labels else None


@cache
def _identifier() -> Any:  # noqa: ANN401 - py3langid has no types
    langid = import_package("py3langid.langid", "looking at the language of texts needs the package py3langid", "cases")
    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
