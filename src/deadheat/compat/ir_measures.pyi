# It has all names of ir_measures.

from typing import Any

def __getattr__(name: str) -> Any: ...  # noqa: ANN401 - whatever ir_measures has
