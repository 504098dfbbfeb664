"""Search by the similarity of embeddings, from any sentence-transformers model.

A score depends on two vectors alone, bit by bit: equal vectors tie, whatever they are computed with. Floating-point
sums depend on the order in which a processor adds up, and BLAS adds in another order for a matrix of another shape, at
another place of one matrix, and with another number of threads. A sum that needs no rounding does not: here each vector
is first rounded to whole multiples of a power of two, so few bits that float64 holds every sum of their products
exactly. (The idea, for one part: Ozaki et al., Numerical Algorithms 59, 2012, doi:10.1007/s11075-011-9478-1.)
"""

import hashlib
import json
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

from deadheat.arrays import FloatArray, IntArray
from deadheat.benchmark.collection import Collection
from deadheat.benchmark.retrievers.protocol import (
    STRINGS,
    Hits,
    Strings,
    check_indexed,
    check_search,
    options_of,
    top,
    written,
)
from deadheat.errors import DataError, DeadheatWarning, MissingDependencyError, ParameterError, as_count, check_choice
from deadheat.io.guarding import phase
from deadheat.io.writing import replacing

PART = 256  # strings between two steps of the progress bar
MAX_CELLS = 1 << 26  # of a matrix of scores: 256 MB
ROWS = 4096  # of embeddings that are float64 at once
FLOAT32, FLOAT64 = 24, 53  # bits of their numbers
ENVIRONMENT = "DEADHEAT_CACHE"
LONGEST = 100  # characters of a name: a longer title is a sentence
FRONT = re.compile(r"\A---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.DOTALL)
TITLE = re.compile(r"^#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
FIELD = r"^{}:[ \t]*(?:\n[ \t]*-[ \t]*(?:name:)?)?[ \t]*(\S.*)$"  # of the head of a card, also the first of a list
QUERY_PROMPTS, DOCUMENT_PROMPTS = ("query",), ("document", "passage", "corpus")


class Embedding:
    """Search by the dot product of embeddings, in float32.

    A score depends on the two embeddings alone, not on what else is searched or found with them: equal embeddings tie.
    For that their numbers are rounded to 20 bits or more of the largest in each (22 for 384 dimensions), so that the
    products add up without rounding.
    Embeddings of the documents are kept in a folder, by the model and the content of the collection. With a model
    that is on this machine nothing is fetched.

    Parameters
    ----------
    model : str or path
        The name of a sentence-transformers model, or the folder that holds one.
    batch_size : int, default 32
    device : str, optional
        Such as "cpu" or "cuda"; by default the best that there is.
    normalise : bool, default True
        Whether embeddings have length 1, so that the score is the cosine.
    query_prompt, document_prompt : str, optional
        What is put before every text and every document; by default what the model itself prescribes, if anything.
    strings : {"best", "joined"}, default "best"
        A document scores by its best string; or all its strings are one text.
    cache : path or False, optional
        Folder of kept embeddings; by default the user's cache folder (or ``$DEADHEAT_CACHE``). False keeps none.
    revision : str, optional
        Of a model on the hub.
    name : str, optional
        By default the last part of the model's name; of one in a folder as its card has it (README.md: ``model_name``,
        ``model-index`` or the title), else its configuration, else the folder's.

    Raises
    ------
    MissingDependencyError
        sentence-transformers is not installed.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        batch_size: int = 32,
        device: str | None = None,
        normalise: bool = True,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        strings: str = "best",
        cache: str | Path | Literal[False] | None = None,
        revision: str | None = None,
        name: str | None = None,
    ) -> None:
        self.batch_size = as_count("batch_size", batch_size)
        check_choice("strings", strings, STRINGS)
        if find_spec("sentence_transformers") is None:
            raise MissingDependencyError(
                f"the model {str(model)!r} needs the package sentence-transformers, which is not installed",
                hint="pip install 'deadheat[embed]' (with PyTorch, a large package)",
            )
        self.model = str(model)
        self.device, self.normalise, self.strings = device, bool(normalise), strings
        self.query_prompt, self.document_prompt, self.revision = query_prompt, document_prompt, revision
        folder = default_folder() if cache is None else cache
        self._folder = Path(folder) / "embeddings" if folder else None
        self.options = options_of(self, "normalise", "query_prompt", "document_prompt", "strings", "revision")
        self.name = name or written(name_of(self.model), Embedding, self.options)
        self._strings: Strings | None = None
        self._vectors: FloatArray = np.zeros((0, 0), np.float32)
        self._place: IntArray = np.zeros(0, np.int64)

    def __repr__(self) -> str:
        return f"Embedding({self.model!r})"

    @property
    def key(self) -> dict[str, object]:
        """What its results depend on, beside the documents."""
        return {
            "retriever": "embedding",
            "model": self._identity,
            **self.options,
            "sentence-transformers": metadata.version("sentence-transformers"),
        }

    @cached_property
    def _identity(self) -> str:
        """What tells the model from others; the files of one in a folder are read once."""
        return identity_of(self.model)

    def index(self, documents: Collection) -> None:
        """Embed the documents that are to be searched, or find their embeddings in the cache."""
        strings = Strings.of(documents, self.strings)
        distinct, place = _distinct(strings.texts)
        key = {name: value for name, value in self.key.items() if name != "query_prompt"}
        path = path_of(self._folder, {**key, "collection": documents.fingerprint})
        vectors = read_kept(path, len(distinct))
        if vectors is None:
            vectors = self._embed(
                distinct, self._prompt(self.document_prompt, DOCUMENT_PROMPTS), f"{self.name}: {documents.name}", path
            )
            keep(path, vectors)
            remove_parts(path)
        self._vectors, self._place, self._strings = rounded(vectors), place, strings

    def search(self, texts: Sequence[str], k: int) -> Hits:
        """Return the k best documents of each text, and all that tie with the last of them."""
        check_search(texts, k)
        strings = check_indexed(self, self._strings)
        distinct, place = _distinct(texts)
        queries = rounded(
            self._embed(distinct, self._prompt(self.query_prompt, QUERY_PROMPTS), f"{self.name}: searching")
        )
        size = max(1, MAX_CELLS // max(1, len(self._place)))
        parts = []
        for start in range(0, len(queries), size):
            scores = products(queries[start : start + size], self._vectors)
            for row in strings.best(np.take(scores, self._place, axis=1)):
                found = top(row, k)
                parts.append((found, row[found]))
        return Hits.of_parts(strings.doc_ids, [parts[row] for row in place.tolist()])

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401 - a package that may not be there
        """The model, loaded when it is first needed."""
        library = import_module("sentence_transformers")
        try:
            with _quiet():
                return library.SentenceTransformer(self.model, device=self.device, revision=self.revision)
        except Exception as error:
            reason = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
            raise ParameterError(
                f"cannot load the model {self.model!r}: {reason}",
                hint=(
                    "A retriever is 'bm25', the path of a run file, the folder of a sentence-transformers model, or the"
                    " name of one that can be fetched or was fetched before"
                ),
            ) from error

    def _prompt(self, given: str | None, names: Sequence[str]) -> str | None:
        """Return what to put before texts: what was given, or what the model has under one of the names."""
        if given is not None:
            return given
        own: dict[str, str] = getattr(self._model, "prompts", None) or {}
        return next((own[name] for name in names if own.get(name)), None)

    def _embed(self, texts: list[str], prompt: str | None, what: str, path: Path | None = None) -> FloatArray:
        """Return an embedding for each text, of shape (n_texts, n_dimensions); interrupted, go on from kept parts."""
        order = np.argsort([-len(text) for text in texts], kind="stable")  # alike in length: less padding
        parts: list[FloatArray] = []
        with phase(what, len(texts)) as advance:
            for start in range(0, len(texts), PART):
                own = [texts[place] for place in order[start : start + PART].tolist()]
                kept = part_of(path, start) if len(texts) > PART else None
                part = read_kept(kept, len(own))
                if part is None:
                    part = self._encode(own, prompt)
                    keep(kept, part)
                parts.append(part)
                advance(len(own))
        vectors = np.empty((len(texts), parts[0].shape[1] if parts else 0), np.float32)
        if parts:
            vectors[order] = np.concatenate(parts)
        return vectors

    def _encode(self, texts: list[str], prompt: str | None) -> FloatArray:
        vectors = self._model.encode(
            texts,
            prompt=prompt,
            batch_size=self.batch_size,
            normalize_embeddings=self.normalise,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        if not np.isfinite(vectors).all():
            raise ParameterError(f"the model {self.model!r} gave embeddings that are not finite", allowed="numbers")
        return np.asarray(vectors, np.float32)


def _distinct(texts: Sequence[str]) -> tuple[list[str], IntArray]:
    """Return the different texts, and the place of each text among them: equal ones have one embedding, and tie."""
    places: dict[str, int] = {}
    place = np.array([places.setdefault(text, len(places)) for text in texts], np.int64)
    return list(places), place


def rounded(vectors: FloatArray) -> FloatArray:
    """Return vectors with so few bits that `products` adds up those of equal length exactly.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n_vectors, n_dimensions)

    Returns
    -------
    ndarray of float32, shape (n_vectors, n_dimensions)
        Off by at most 2^-bits of the largest number of its vector: bits is 22 for 384 dimensions, 21 for 2,048.

    Examples
    --------
    >>> rounded(np.array([[0.75, 1e-9]], np.float32)).tolist()
    [[0.75, 0.0]]
    """
    bits = min(FLOAT32, (FLOAT64 - max(0, vectors.shape[1] - 1).bit_length()) // 2)
    _, exponent = np.frexp(np.abs(vectors).max(axis=1, initial=0, keepdims=True))
    unit = np.ldexp(1.0, exponent - bits)
    return (np.rint(vectors / unit) * unit).astype(np.float32)


def products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the dot product of each row of one matrix with each row of another.

    Parameters
    ----------
    left : ndarray of float32, shape (n_left, n_dimensions)
    right : ndarray of float32, shape (n_right, n_dimensions)
        Both of them `rounded`.

    Returns
    -------
    ndarray of float32, shape (n_left, n_right)
        Each number is the same whatever the other rows are, how many, and on how many threads. Beyond float32, it is
        infinite.
    """
    found = np.empty((len(left), len(right)), np.float32)
    wide = left.astype(np.float64)
    for start in range(0, len(right), ROWS):
        beside = right[start : start + ROWS].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):  # what is infinite is an error where the document is known
            found[:, start : start + ROWS] = wide @ beside.T + 0.0  # never -0.0
    return found


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the bar that transformers draws while it loads a model off the screen."""
    try:
        logging = import_module("transformers.utils.logging")
    except ImportError:
        yield
        return
    was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()


def default_folder() -> Path:
    """Return the user's cache folder on this platform, or that of the environment."""
    environ, home = os.environ, Path.home()
    if sys.platform == "darwin":
        base = home / "Library" / "Caches"
    elif os.name == "nt":
        base = Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    else:
        base = Path(environ.get("XDG_CACHE_HOME") or home / ".cache")
    return Path(environ.get(ENVIRONMENT) or base / "deadheat")


def identity_of(model: str) -> str:
    """Return what distinguishes a model: the name of one on the hub, a hash of the whole files of one in a folder."""
    folder = Path(model)
    if not os.path.isdir(folder):  # noqa: PTH112 - of Path it raises for a text that is too long for a name
        return model
    found = hashlib.sha256()
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found.update(json.dumps([path.relative_to(folder).as_posix(), digest]).encode())
    return found.hexdigest()


def path_of(folder: Path | None, key: Mapping[str, object]) -> Path | None:
    """Return the file of a key, which JSON can hold."""
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
    return None if folder is None else folder / f"{digest}.npy"


def part_of(path: Path | None, start: int) -> Path | None:
    """Return the file of a part of embeddings that are still being made."""
    return None if path is None else path.with_suffix(f".{start:09}.part")


def remove_parts(path: Path | None) -> None:
    """Remove the parts, which the whole file holds."""
    for part in path.parent.glob(f"{path.stem}.*.part") if path is not None and path.is_file() else ():
        part.unlink(missing_ok=True)


def read_kept(path: Path | None, n_rows: int) -> FloatArray | None:
    """Return kept embeddings; None if there are none, or if the file is damaged."""
    if path is None:
        return None
    try:
        found = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return found if found.ndim == 2 and len(found) == n_rows and found.dtype == np.float32 else None


def _save(path: Path, vectors: FloatArray, attempts: int = 9) -> None:
    """Save embeddings in a folder that another process may remove at any time, when it has all parts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with replacing(path) as file:
            np.save(file, vectors, allow_pickle=False)
    except (FileNotFoundError, DataError):
        if not attempts or path.parent.is_dir():
            raise
        _save(path, vectors, attempts - 1)


def keep(path: Path | None, vectors: FloatArray) -> None:
    """Keep embeddings; warn if that fails."""
    if path is None:
        return
    try:
        _save(path, vectors)
    except (OSError, DataError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        warnings.warn(
            f"embeddings cannot be kept in {path.parent} ({reason}): set ${ENVIRONMENT} or cache=",
            DeadheatWarning,
            stacklevel=4,
        )


def name_of(model: str) -> str:
    """Return the last part of the name of a model.

    For one in a folder, the first of these that exists: ``model_name``, ``model_id`` or ``model-index`` in the head of
    the card (README.md), the title of the card, ``model_name`` in config_sentence_transformers.json or config.json,
    ``_name_or_path`` there (the model that it was made from), ``base_model`` of the card, the folder.
    """
    folder = Path(model)
    if os.path.isdir(folder):  # noqa: PTH112 - of Path it raises for a text that is too long for a name
        for found in _named(folder):
            name = " ".join(re.sub("[*`]", "", found).split()).strip("'\"").rstrip("/")
            if " " not in name:
                name = name.rpartition("/")[2]
            if name and name.isprintable() and len(name) <= LONGEST and not re.search(r"[<>\[\]|]", name):
                return name
        return folder.absolute().name
    return folder.name


def _named(folder: Path) -> Iterator[str]:
    """Yield the names that the files of a folder give, the most reliable first."""
    card = _text(folder / "README.md")
    front = FRONT.match(card)
    head = front[1] if front else ""
    yield from _fields(head, "model_name", "model_id", "model-index")
    title = TITLE.search(card, front.end() if front else 0)
    if title and title[1].strip() != "SentenceTransformer":  # what the library writes if it knows no name
        yield title[1]
    configurations = [_configuration(folder / name) for name in ("config_sentence_transformers.json", "config.json")]
    for key in ("model_name", "_name_or_path"):
        for configuration in configurations:
            if isinstance(value := configuration.get(key), str) and not Path(value).is_absolute():
                yield value
    yield from _fields(head, "base_model")


def _fields(head: str, *names: str) -> Iterator[str]:
    found = (re.search(FIELD.format(name), head, re.MULTILINE) for name in names)
    yield from (one[1] for one in found if one)


def _configuration(path: Path) -> dict[str, object]:
    try:
        found: object = json.loads(_text(path))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(path: Path) -> str:
    """Return the start of a file as text; empty if it cannot be read."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(1 << 20).replace("\r\n", "\n")
    except OSError:
        return ""
