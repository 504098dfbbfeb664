"""The long description on a package index: the README, with its links and pictures as addresses in the repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = r"(\[[^\]]*\])\((?!https?:)([^)]+)\)"  # a link, with its text and its path
PICTURE = r'\b(src|srcset)="(?!https?:)([^"]+)"'


class LongDescription(MetadataHookInterface):
    """Calls `with_addresses` when a wheel or an sdist is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the long description."""
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        if "urls" in metadata:  # there are none until the repository has an address
            readme = with_addresses(readme, metadata["urls"]["Source"])
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}


def with_addresses(readme: str, source: str) -> str:
    """Return Markdown whose relative links and pictures lead to the repository at `source`."""
    readme = re.sub(PICTURE, rf'\1="{source}/raw/main/\2"', readme)
    return re.sub(RELATIVE, rf"\1({source}/blob/main/\2)", readme)
