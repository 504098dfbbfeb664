"""Replacing other tools in this process: programs that import them need not change."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

REPLACED = "pytrec_eval"
EXTENDED = "ir_measures"
USAGE = """usage: python -m deadheat.compat SCRIPT [ARGUMENTS]
       python -m deadheat.compat -m MODULE [ARGUMENTS]

Runs a program with pytrec_eval replaced by deadheat, and ir_measures computed by it.
DEADHEAT_TIES=expected in the environment gives exact means over the orders of ties."""


def install() -> None:
    """Replace pytrec_eval by deadheat in this process, and give ir_measures the provider of deadheat.

    What is imported later imports the replacement. Modules that imported pytrec_eval, or names of it, before (such as
    BEIR and MTEB) have them replaced; objects that exist already are left alone. pytrec_eval need not be installed.
    Calling it again does nothing more.

    Examples
    --------
    >>> import deadheat.compat
    >>> deadheat.compat.install()  # doctest: +SKIP
    >>> import pytrec_eval  # doctest: +SKIP
    """
    ours = import_module("deadheat.compat.pytrec_eval")
    theirs = sys.modules.get(REPLACED)
    if theirs is not None and theirs is not ours:
        _rebind(theirs, ours)
    sys.modules[REPLACED] = ours
    if EXTENDED in sys.modules:
        _extend()
    elif not any(isinstance(finder, _Watcher) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watcher())


def _rebind(theirs: ModuleType, ours: ModuleType) -> None:
    """Give every loaded module our objects where it has those of pytrec_eval, or the module itself."""
    pairs: list[tuple[object, object]] = [(theirs, ours)]
    pairs += [(getattr(theirs, name), getattr(ours, name)) for name in ours.__all__ if hasattr(theirs, name)]
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if module in {theirs, ours} or not isinstance(names, dict):
            continue
        for name, value in list(names.items()):
            for old, new in pairs:
                if value is old:
                    names[name] = new
    for name in ours.__all__:  # what is looked up in the old module later
        setattr(theirs, name, getattr(ours, name))


def _extend() -> None:
    import_module("deadheat.compat.ir_measures_provider").register()


class _Watcher(MetaPathFinder):
    """Adds the provider as soon as ir_measures is imported: to import it before would take a second."""

    def __init__(self) -> None:
        self._is_looking = False

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - Python's signature
        target: ModuleType | None = None,  # noqa: ARG002 - as above
    ) -> ModuleSpec | None:
        """Return the spec of ir_measures with a loader that registers the provider afterwards."""
        if fullname != EXTENDED or self._is_looking:
            return None
        self._is_looking = True
        try:
            spec = find_spec(fullname)
        finally:
            self._is_looking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Extending(spec.loader)
        return spec


class _Extending(Loader):
    """Loads ir_measures as its own loader does, then registers the provider."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return what its own loader returns."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module and register the provider."""
        self._loader.exec_module(module)
        _extend()

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)  # such as get_code, which runpy asks for


def run(arguments: Sequence[str]) -> None:
    """Run a program as ``python`` does, with pytrec_eval and ir_measures replaced.

    Parameters
    ----------
    arguments : sequence of str
        A script, or ``-m`` and a module, then its own arguments.

    Raises
    ------
    SystemExit
        There is no program, or it exits.
    """
    given = list(arguments)
    if given[:1] in ([], ["-h"], ["--help"]):
        print(USAGE, file=sys.stderr if not given else sys.stdout)
        raise SystemExit(0 if given else 2)
    is_module = given[0] == "-m"
    if is_module and len(given) == 1:
        raise SystemExit(USAGE)
    program, *own = given[is_module:]
    if not is_module and not Path(program).exists():
        raise SystemExit(f"python -m deadheat.compat: no such file: {program!r}")
    install()
    sys.argv = [program, *own]
    if is_module:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        return
    sys.path[0] = str(Path(program).resolve().parent)  # as for `python SCRIPT`
    runpy.run_path(program, run_name="__main__")
