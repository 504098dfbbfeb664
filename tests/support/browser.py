"""Chromium without a screen, driven by playwright, for the tests of pages; they are skipped where either is missing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    *("--no-sandbox", "--headless=new", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
]
READY = "html[data-ready=yes]"
REASON = "no Chromium" if CHROMIUM is None else "no playwright" if find_spec("playwright") is None else ""
needs_browser = pytest.mark.skipif(bool(REASON), reason=f"{REASON} here: pages are not opened")


@dataclass
class Opened:
    """A page in the browser, with what it said and asked for.

    Attributes
    ----------
    page : playwright's Page
    said : list of str
        Errors and warnings on the console, and exceptions.
    asked : list of str
        Addresses beside that of the file.
    """

    page: Any
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


class Browser:
    """Chromium, started once for many pages."""

    def __init__(self, chromium: Any) -> None:  # noqa: ANN401 - playwright's Browser
        self._chromium = chromium

    @contextmanager
    def opened(self, file: Path, *, scripts: bool = True, width: int = 1400, theme: str = "light") -> Iterator[Opened]:
        """Open a file, and wait until its script is done."""
        context = self._chromium.new_context(
            java_script_enabled=scripts, viewport={"width": width, "height": 900}, color_scheme=theme
        )
        found = Opened(context.new_page())
        found.page.on("console", lambda said: found.said.append(f"{said.type}: {said.text}"))
        found.page.on("pageerror", lambda error: found.said.append(str(error)))
        found.page.on("request", lambda request: found.asked.append(request.url))
        found.page.goto(file.as_uri())
        if scripts:
            found.page.wait_for_selector(READY, timeout=60_000)
        found.asked.remove(file.as_uri())
        yield found
        context.close()


@contextmanager
def started() -> Iterator[Browser]:
    """Start Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        chromium = player.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield Browser(chromium)
        chromium.close()
