"""Arrays of PyTorch, JAX, CuPy and others: NumPy sees those in main memory without a copy, others stay where they are.

What stays on another device is counted there by its own library, through the Python array API standard.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.arrays import AnyArray
from deadheat.errors import MissingDependencyError, ParameterError, Plain

BFLOAT16 = np.dtype([("bfloat16", np.uint16)])  # the bits of numbers that NumPy has no type for
_OF_JAX = ("jax", "jaxlib")
_OF_DEVICES = ("torch", "cupy", *_OF_JAX)


def _library(given: object) -> str:
    """Return the name of an array's library; others derive classes from those of PyTorch."""
    names = [base.__module__.partition(".")[0] for base in type(given).__mro__]
    return next((name for name in names if name in _OF_DEVICES), names[0])


def _is_array(given: object) -> bool:
    """Return whether an object is an array of another library than NumPy, as the standard or its name tells."""
    if isinstance(given, np.ndarray | np.generic):
        return False
    return hasattr(given, "shape") and (_library(given) in _OF_DEVICES or hasattr(given, "__array_namespace__"))


def is_array(given: object) -> bool:
    """Return whether an object is an array, of NumPy or of another library."""
    return isinstance(given, np.ndarray) or _is_array(given)


def on_device(given: object) -> bool:
    """Return whether an array is to be left to its own library: it is not in main memory, or NumPy cannot see it."""
    if not _is_array(given):
        return False
    some: Any = given
    if _library(given) == "torch":
        return bool(some.device.type != "cpu")
    if _library(given) in _OF_JAX:
        return any(one.platform != "cpu" for one in some.devices())
    return True


def in_memory(given: object) -> object:
    """Return an array of PyTorch or JAX in main memory as NumPy sees it, without a copy; anything else as it is.

    Raises
    ------
    ParameterError
        Its numbers are of a type that NumPy cannot hold, or NumPy has masked some of them.
    """
    some: Any = given
    if np.ma.is_masked(given):  # NumPy would drop the mask
        hint = "give array.data; evaluate_dense takes mask=~array.mask"
        raise ParameterError(given=Plain("a masked array"), allowed="an array without a mask", hint=hint)
    if not _is_array(given) or on_device(given):
        return given
    if _library(given) in _OF_JAX:
        return np.asarray(some)
    import torch  # pyright: ignore[reportMissingImports] - it is there: the array is one of its

    try:
        some = some.detach()
        return some.view(torch.int16).numpy().view(BFLOAT16) if some.dtype == torch.bfloat16 else some.numpy()
    except (TypeError, RuntimeError):  # a sparse or quantised tensor, or 8-bit floats
        shown = Plain(f"a tensor of {some.dtype}, {some.layout}")
        hint = f"convert it, as by {'.float()' if some.layout == torch.strided else '.to_dense()'}"
        raise ParameterError(given=shown, allowed="a dense array of numbers", hint=hint) from None


def detached(array: object) -> Any:  # noqa: ANN401 - an array of any library
    """Return an array without its gradient, which PyTorch would carry through all that is done with it."""
    some: Any = array
    return some.detach() if _library(array) == "torch" else some


@cache
def is_short(dtype: np.dtype[Any]) -> bool:
    """Return whether NumPy compares such floats slowly or not at all: float16, bfloat16 and those of 8 bits."""
    return dtype in {np.dtype(np.float16), BFLOAT16} or dtype.name.startswith(("bfloat", "float8"))


def widened(piece: AnyArray) -> AnyArray:
    """Return short floats as float32, which holds each of them exactly; other numbers as they are."""
    if piece.dtype == BFLOAT16:
        bits: NDArray[np.uint32] = np.left_shift(piece.view(np.uint16), np.uint32(16), dtype=np.uint32)
        return bits.view(np.float32)
    return piece.astype(np.float32) if is_short(piece.dtype) else piece


def namespace(array: object) -> Any:  # noqa: ANN401 - a module, which the standard describes
    """Return the functions of an array's library as the standard names them.

    Raises
    ------
    MissingDependencyError
        array-api-compat is not installed.
    """
    try:
        import array_api_compat  # only arrays on other devices need it
    except ImportError as error:
        raise MissingDependencyError(
            f"arrays of {_library(array)} on {device_of(array)} need the package array-api-compat",
            hint='pip install "deadheat[dense]"',
            python="or move them to main memory first",
        ) from error
    return array_api_compat.array_namespace(array)


def library_of(array: object) -> Any:  # noqa: ANN401 - as above
    """Return the functions of the library that counts an array: NumPy's for what it can see."""
    return namespace(array) if on_device(array) else np


def device_of(array: object) -> str:
    """Return the name of the device that holds an array."""
    if not _is_array(array):
        return "cpu"
    some: Any = array
    found = some.devices() if _library(array) in _OF_JAX else {some.device}
    return ", ".join(sorted(map(str, found)))


def to_memory(array: object) -> AnyArray:
    """Return a small array as NumPy's, from any device; short floats as float32."""
    some: Any = in_memory(array)
    if _library(some) == "torch":
        some = in_memory(some.cpu())
    elif _library(some) == "cupy":
        some = some.get()
    elif _library(some) in _OF_JAX:
        some = np.asarray(some)
    elif on_device(some):
        some = np.from_dlpack(some)
    return widened(np.asarray(some))


def beside(xp: Any, some: AnyArray, like: Any) -> Any:  # noqa: ANN401 - a library and its arrays
    """Return an array of NumPy as one of a library, on the device of another array."""
    if xp is np:
        return some
    if xp.__name__.endswith("torch"):
        return xp.asarray(some, device=like.device)
    device = None if _library(like) in _OF_JAX else like.device
    return xp.asarray(some, device=device)
