"""Qrels and runs of ranx."""

from collections.abc import Mapping
from typing import Any

from deadheat.core.errors import SourceTypeError
from deadheat.core.io.content import Content
from deadheat.core.io.documents import SWAPPED
from deadheat.core.io.kinds import OTHER_KIND, Kind
from deadheat.core.io.sources import RECOGNISERS, read_mapping


def read_ranx(source: Any, kind: Kind, where: str, given: Mapping[str, str]) -> Content | None:  # noqa: ANN401 - anything
    """Read the dicts in an object of ranx."""
    if not hasattr(source, "to_dict") or hasattr(source, "columns"):
        return None
    if hasattr(source, kind):
        return read_mapping(source.to_dict(), kind, where, given)
    if hasattr(source, OTHER_KIND[kind]):
        raise SourceTypeError(found=f"a {OTHER_KIND[kind]} of ranx", allowed=kind, hint=SWAPPED)
    return None


RECOGNISERS.append(read_ranx)
