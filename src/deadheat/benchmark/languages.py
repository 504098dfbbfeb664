"""Codes of languages: which there are, and how they are written."""

from __future__ import annotations

import re

from deadheat.errors import ParameterError
from deadheat.wording import did_you_mean

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
ALLOWED = "a code of ISO 639 such as 'de', 'fr' or 'pt-br'"
_FORM = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8})*")


def is_code(given: str) -> bool:
    """Return whether a text is the code of a language, perhaps with a region.

    Examples
    --------
    >>> [is_code(one) for one in ("de", "pt-br", "dtp", "xx", "german", "DE")]
    [True, True, True, False, False, False]
    """
    head = given.partition("-")[0]
    return _FORM.fullmatch(given) is not None and (len(head) == 3 or head in CODES)


def base(code: str) -> str:
    """Return the code without its region.

    Examples
    --------
    >>> base("pt-br")
    'pt'
    """
    return code.partition("-")[0]


def near_code(given: str) -> str:
    """Return ``"Did you mean 'de'?"`` for the name of a language or another spelling of its code, or an empty string.

    Examples
    --------
    >>> near_code("German"), near_code("FR"), near_code("???")
    ("Did you mean 'de'?", "Did you mean 'fr'?", '')
    """
    folded = given.strip().casefold().replace("_", "-")
    if is_code(folded):
        return f"Did you mean {folded!r}?"
    found = next((code for code, name in NAMES.items() if name == folded), None)
    return f"Did you mean {found!r}?" if found else did_you_mean(folded, CODES)


def checked_code(argument: str, given: object) -> str:
    """Return the code of a language that was given as an argument, or raise `ParameterError`."""
    if not isinstance(given, str) or not is_code(given):
        hint = near_code(given) if isinstance(given, str) else ""
        raise ParameterError(argument=argument, given=given, allowed=ALLOWED, hint=hint)
    return given
