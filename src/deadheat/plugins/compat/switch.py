"""The switch that puts deadheat into other tools in this process, so that programs that import them need not change."""

import os
import runpy
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from deadheat.core.errors import (
    ParameterError,
)
from deadheat.plugins.compat.evaluating import TALLY, VARIABLE, tie_policy

USAGE = """usage: python -m deadheat.compat [--ties POLICY] SCRIPT [ARGUMENTS]
       python -m deadheat.compat [--ties POLICY] -m MODULE [ARGUMENTS]

Runs a program that uses pytrec_eval, ir_measures or ranx. Their numbers stay what
they are, and a line on standard error says how many of them ties could change.
--ties expected, or DEADHEAT_TIES=expected in the environment, gives exact means
over the orders of ties instead."""


def install(ties: str | None = None) -> None:
    """Put deadheat into pytrec_eval, ir_measures and ranx in this process: their numbers stay what they are.

    At the end of the process a line on standard error says how many values ties could change. pytrec_eval is replaced,
    and need not be installed. Modules that imported it, or names of it, before (such as BEIR and MTEB) have them
    replaced; objects that exist already are left alone. Calling it again does nothing more.

    Parameters
    ----------
    ties : str, optional
        A tie policy for all of them, such as ``"expected"`` for exact means over the orders of ties. It sets
        ``DEADHEAT_TIES`` in the environment, which does the same.

    Raises
    ------
    ParameterError
        There is no such policy.

    Examples
    --------
    >>> import deadheat.compat
    >>> deadheat.compat.install()  # doctest: +SKIP
    >>> import pytrec_eval  # doctest: +SKIP
    """
    if ties is not None:
        os.environ[VARIABLE] = tie_policy(ties, ties)
    TALLY.start()
    ours = import_module("deadheat.plugins.compat.pytrec_eval")
    theirs = sys.modules.get("pytrec_eval")
    if theirs is not None and theirs is not ours:
        named = [name for name in ours.__all__ if hasattr(theirs, name)]
        _rebind([(theirs, ours), *((getattr(theirs, name), getattr(ours, name)) for name in named)], {theirs, ours})
        for name in ours.__all__:  # what is looked up in the old module later
            setattr(theirs, name, getattr(ours, name))
    sys.modules["pytrec_eval"] = ours
    for name in EXTENDED:
        if name in sys.modules:
            _extend(name, sys.modules[name])
    if not any(isinstance(finder, _ImportHook) for finder in sys.meta_path):
        sys.meta_path.insert(0, _ImportHook())


def _rebind(pairs: list[tuple[object, object]], but: set[ModuleType]) -> None:
    """Give every loaded module, but some, the second of two objects where it has the first."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if module in but or not isinstance(names, dict):
            continue
        for name, value in list(names.items()):
            for old, new in pairs:
                if value is old:
                    names[name] = new


def _extend(name: str, theirs: ModuleType) -> None:
    """Extend a tool that was just imported."""
    if name == "ir_measures":
        provider = import_module("deadheat.plugins.compat.ir_measures_provider")
        provider.register()
        provider.watch()
    elif not hasattr(theirs.evaluate, "__wrapped__"):
        _rebind([(theirs.evaluate, import_module("deadheat.plugins.compat.ranx").beside(theirs.evaluate))], set())


EXTENDED = ("ir_measures", "ranx")


class _ImportHook(MetaPathFinder):
    """Extends a tool as soon as it is imported: to import it before would take a second."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a tool, whose loader extends it afterwards."""
        if fullname not in EXTENDED:
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        spec = next(filter(None, (finder.find_spec(fullname, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def extended(module: ModuleType) -> None:
                execute(module)
                _extend(fullname, module)

            vars(spec.loader)["exec_module"] = extended
        return spec


def run(arguments: Sequence[str]) -> None:
    """Run a program as ``python`` does, with deadheat in pytrec_eval, ir_measures and ranx.

    Parameters
    ----------
    arguments : sequence of str
        Perhaps ``--ties`` and a policy; a script, or ``-m`` and a module; then its own arguments.

    Raises
    ------
    SystemExit
        There is no program, or it exits.
    """
    given = list(arguments)
    if given[:1] in ([], ["-h"], ["--help"]):
        (sys.stdout if given else sys.stderr).write(f"{USAGE}\n")
        raise SystemExit(0 if given else 2)
    ties = None
    if given[0].startswith("--ties"):
        _, equals, ties = given.pop(0).partition("=")
        ties = ties if equals else given.pop(0) if given else None
    is_module = given[:1] == ["-m"]
    if len(given) == is_module:
        raise SystemExit(USAGE)
    program, *own = given[is_module:]
    if not is_module and not Path(program).exists():
        raise SystemExit(f"python -m deadheat.compat: no such file: {program!r}")
    try:
        install(ties)
    except ParameterError as error:
        raise SystemExit(f"python -m deadheat.compat: {error}") from None
    sys.argv = [program, *own]
    if is_module:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        return
    sys.path[0] = str(Path(program).resolve().parent)  # as for `python SCRIPT`
    runpy.run_path(program, run_name="__main__")
