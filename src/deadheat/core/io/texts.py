"""Texts of chunks and passages in the place of ids: how they are told from ids, and how ids are made of them."""

from __future__ import annotations

from collections.abc import Sequence

FEWEST_WORDS = 6  # of a text; ids with blanks, such as names of products, have fewer
# Columns and fields of LangChain, LlamaIndex, Haystack, ragas and others that hold texts of documents
NAMES_OF_TEXTS = frozenset(
    {
        "text",
        "texts",
        "content",
        "contents",
        "page_content",
        "context",
        "contexts",
        "chunk_text",
        "passage_text",
        "retrieved_contexts",
        "retrieved_texts",
        "reference_contexts",
        "expected_texts",
    }
)
MATCH_TEXTS = (  # for the chunks of one query, expected is {id: text}
    "deadheat compares ids, or spans of documents (dh.Spans, --spans): give a text the id of the expected text that it"
    " equals or holds, next((id for id, text in expected.items() if text in chunk), chunk)"
)


def is_text(value: object) -> bool:
    """Tell whether an id looks like the text of a chunk.

    Examples
    --------
    >>> is_text("Ada leads the group since 2019."), is_text("Canon EOS R5 Mark II"), is_text(7)
    (True, False, False)
    """
    return isinstance(value, str) and len(value.split()) >= FEWEST_WORDS


def names_a_text(path: str) -> bool:
    """Tell whether the part of a result at a dotted path holds a text, by its name."""
    return path.rpartition(".")[2] in NAMES_OF_TEXTS


def hint_at_texts(left_ids: Sequence[str], right_ids: Sequence[str]) -> str:
    """Return a hint if ids of both sides look like texts; else an empty text."""
    if any(map(is_text, left_ids)) and any(map(is_text, right_ids)):
        return f" Texts match as ids only where they are equal; {MATCH_TEXTS}."
    return ""
