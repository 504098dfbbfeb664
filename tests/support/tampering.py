"""Saved evaluations and states that someone changed who knows how their hash is made."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def seal(document: dict[str, Any]) -> None:
    """Give a document the hash that it would have been saved with."""
    document.pop("sha256", None)
    text = json.dumps(document, sort_keys=True, ensure_ascii=False)
    document["sha256"] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
