"""JSON documents of other tools: importing this package reads all its files, which fill the registry."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from deadheat.io.exports.base import EXPORTS, Export, exported, register

for _file in iter_modules(__path__):
    import_module(f"{__name__}.{_file.name}")

__all__ = ["EXPORTS", "Export", "exported", "register"]
