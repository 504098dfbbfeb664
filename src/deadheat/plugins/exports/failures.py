"""What a search engine answers where it has no hits."""

from deadheat.core.errors import (
    DataError,
)
from deadheat.core.io.documents import Document, register_document
from deadheat.core.io.results import Listing


@register_document(
    "the error of a search engine",
    "run",
    lambda held: set(held) == {"error", "status"} and isinstance(held["status"], int),
)
def _refuse_error(held: Document, where: str) -> Listing:
    """Raise for what a search engine answers instead of hits: ``{"error": {...}, "status": 404}``."""
    error = held["error"]
    reason = error.get("reason", error) if isinstance(error, dict) else error
    raise DataError(
        "the search engine answered with an error",
        found=f"{held['status']}, {reason!s:.200}",
        hint="search again",
        path=where,
    )
