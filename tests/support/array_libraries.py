"""Arrays of other libraries made of NumPy's; a test is skipped where the library is not installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deadheat.plugins.dense import comparing, counting, tiles

IN_MEMORY = ("numpy", "torch", "jax")
ELSEWHERE = ("strict", "strict on device1", "torch as on a GPU", "jax as on a GPU")


def array_of(kind: str, given: np.ndarray) -> Any:  # noqa: ANN401 - an array of any library
    """Return an array of a library, with the same numbers."""
    name = kind.split(maxsplit=1)[0]
    if name == "numpy":
        return given
    if name == "torch":
        return pytest.importorskip("torch").tensor(given)
    if name == "jax":
        return pytest.importorskip("jax.numpy").asarray(given)
    strict = pytest.importorskip("array_api_strict")
    return strict.asarray(given, device=strict.Device("device1" if "device1" in kind else "CPU_DEVICE"))


def take_for_a_gpu(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have arrays in main memory counted by their own library, as those on a GPU are."""
    if kind in ELSEWHERE:
        pytest.importorskip("array_api_compat")
    if not kind.endswith("as on a GPU"):
        return
    really, name = comparing.on_device, kind.split(maxsplit=1)[0]

    def on_device(given: object) -> bool:
        return type(given).__module__.startswith(name) or really(given)

    for module in (comparing, counting, tiles):
        monkeypatch.setattr(module, "on_device", on_device, raising=False)
