"""What the script of a page reads."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any


def held_in(page: str) -> Any:  # noqa: ANN401 - what JSON holds
    """Return the data of a page."""
    (text,) = re.findall(r'<script type="application/json" id="deadheat-data">(.*?)</script>', page, re.DOTALL)
    return json.loads(zlib.decompress(base64.b64decode(json.loads(text)["data"])))
