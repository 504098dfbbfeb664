"""Which languages meet: that of the cases, and that of the texts in which they are searched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from deadheat.benchmark.collection import Collection
from deadheat.benchmark.languages import base, guess, is_code
from deadheat.benchmark.parts import Part
from deadheat.benchmark.retrievers import Retriever
from deadheat.errors import MissingDependencyError
from deadheat.evaluation.strata import NONE

ENGLISH = "English stop words"
SAMPLE = 300  # texts, from which the language of a collection is guessed


@dataclass(frozen=True)
class Spoken:
    """The languages of a collection.

    Attributes
    ----------
    languages : tuple of str
        Empty if nobody knows.
    is_guess : bool
        Whether nobody said it, and the texts clearly look so.
    """

    languages: tuple[str, ...] = ()
    is_guess: bool = False

    @property
    def in_words(self) -> str:
        """The languages, and whether they are guessed."""
        return " and ".join(self.languages) + " (guessed from them)" * self.is_guess

    def is_crossed_by(self, language: str) -> bool:
        """Whether a search in this language meets texts in other languages only."""
        return base(language) not in map(base, self.languages)


def spoken_in(documents: Collection, parts: Sequence[Part]) -> Spoken:
    """Return the languages of documents: what is said of them, or else a guess, if cases have a language at all."""
    if documents.languages or all(part.language == NONE for part in parts):
        return Spoken(documents.languages)
    sample = documents.texts[:: max(1, len(documents) // SAMPLE)]
    try:
        found = guess(". ".join(sample))
    except MissingDependencyError:  # a guess is no result: without the package there is none
        found = None
    return Spoken((found,), is_guess=True) if found else Spoken()


def words_by_language(retriever: Retriever, parts: Sequence[Part]) -> dict[str, tuple[str, ...]]:
    """Return how a retriever takes words, with the languages of the cases that it is so for; empty if it says none."""
    say: Callable[[str | None], str] | None = getattr(retriever, "words_in", None)
    if not callable(say):
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for language in dict.fromkeys(part.language for part in parts):
        words = say(None if language == NONE else language)
        found[words] = (*found.get(words, ()), language)
    return found


def tell_words(words: Mapping[str, Mapping[str, tuple[str, ...]]]) -> Iterator[str]:
    """Yield how words were taken, where that is not English alone for English cases alone."""
    for name, found in words.items():
        languages = [language for own in found.values() for language in own]
        if list(found) == [ENGLISH] and {base(one) for one in languages} <= {"en", NONE}:
            continue
        told = "; ".join(f"{how} ({', '.join(own)})" for how, own in found.items())
        is_alike = (len(found) == 1 and len(languages) > 1) or list(found) == [ENGLISH]
        yield f"{name}: {told}" + ("; bm25(language='cases') takes those of each language" if is_alike else "")


def tell_meeting(parts: Sequence[Part], spoken: Spoken, collection: str) -> Iterator[tuple[str, bool]]:
    """Yield what to know of the languages that meet, and whether it is a note: a search that crosses languages is."""
    with_language = [part for part in parts if part.language != NONE]
    if not with_language:
        return
    if not spoken.languages:
        yield f"nobody says in which language the texts of {collection} are: name it by --collection-language", False
        return
    unknown = [part for part in with_language if not is_code(part.language)]
    if unknown:
        names = ", ".join(map(str, unknown))
        yield f"{names}: no code of ISO 639, so that nobody can tell whether the texts are in it", True
    with_language = [part for part in with_language if part not in unknown]
    crossing = [part for part in with_language if spoken.is_crossed_by(part.language)]
    if crossing:
        names = ", ".join(map(str, crossing))
        yield f"{names}: searched in texts in {spoken.in_words}, another language", True
    for part in with_language:
        others = [one for one in spoken.languages if base(one) != base(part.language)]
        if part not in crossing and others:
            yield f"{part}: searched in texts in {spoken.in_words}", True
