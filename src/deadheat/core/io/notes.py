"""Notes on how a source was read."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Ranked:
    """A note that the order of results is known without their scores.

    Attributes
    ----------
    text : str
    why_not_ascending : str
        Why lower numbers cannot rank first, for an error.
    """

    text: str
    why_not_ascending: str = "there are ranks and no scores"

    def __str__(self) -> str:
        return self.text


Notes = tuple[str | Ranked, ...]
