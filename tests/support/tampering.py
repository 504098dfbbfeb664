"""Saved evaluations that someone tampered with: mutations of their bytes, their JSON and their tables.

``PYTHONPATH=tests python -m support.tampering 60`` tries for 60 seconds.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import deadheat as dh
from deadheat.errors import DataError
from deadheat.placements import policies
from support.paths import FIRST_FORMAT

if TYPE_CHECKING:
    from collections.abc import Callable

    from deadheat.evaluation.evaluation import Evaluation

DIGITS, BEYOND = "a number of 5,000 digits", "1e999"
EVIL: list[Any] = [
    None, True, False, 0, 1, -1, 2, 0.5, -0.0, 1e308, 5e-324, 2**63, -(2**70), 10**400, float("nan"), float("inf"),
    DIGITS, BEYOND, "", "x", "1", "inf", "nan", "\0", "\x1b[2J", "..", "/etc/passwd", "0" * 64, "RR", "nDCG@10",
    "P@" + "9" * 5000, "RR@0", "expected", "zeros", "é" * 300, "\ud800", [], {}, [None], [[]], {"": 0}, ["a", "a"], [1],
    {"custom": True}, {"sha256": 1}, ["q1"],
]  # fmt: skip
CELLS: list[Any] = [None, 0, 1, -1, 2**62, -(2**63), 0.5, 1e308, float("nan"), float("inf"), -1e-9, "", "x", True]
DTYPES = (pl.Int32, pl.UInt64, pl.Float32, pl.String, pl.Boolean, pl.Binary, pl.Decimal(38, 2), pl.Null)


def seal(document: dict[str, Any]) -> None:
    """Give a document the hash that it would have been saved with."""
    document.pop("sha256", None)
    text = json.dumps(document, sort_keys=True, ensure_ascii=False)
    document["sha256"] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def written(document: object) -> bytes:
    """Return the text of a document; what no Python number can be is put in where it has its place."""
    text = json.dumps(document).replace(json.dumps(DIGITS), "7" * 5000).replace(json.dumps(BEYOND), BEYOND)
    return text.encode()


def changed_bytes(data: bytes, rng: random.Random) -> bytes:
    """Flip a bit, cut the end off, or take out, double or overwrite some bytes."""
    at, length = rng.randrange(len(data)), rng.choice([1, 2, 8, 100])
    end = at + length
    return rng.choice(
        [
            data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :],
            data[:at],
            data[:at] + data[end:],
            data[:end] + data[at:],
            data[:at] + rng.randbytes(length) + data[end:],
        ]
    )


def changed_value(document: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Replace, delete, rename, swap or double a value somewhere in a document."""
    document = json.loads(json.dumps(document))
    owner: Any = document
    while True:
        inner = [one for one in (owner.values() if isinstance(owner, dict) else owner) if isinstance(one, dict | list)]
        if not any(inner) or rng.random() < 0.3:
            break
        owner = rng.choice([one for one in inner if one])
    keys = list(owner) if isinstance(owner, dict) else list(range(len(owner)))
    key, other = rng.choice(keys), rng.choice(keys)
    what = rng.random()
    if what < 0.6:
        owner[key] = rng.choice(EVIL)
    elif what < 0.7:
        del owner[key]
    elif what < 0.8:
        owner[key], owner[other] = owner[other], owner[key]
    elif isinstance(owner, dict):
        owner[rng.choice(["x", "", "mean", "retrieved", "RR", "AP", "max_relevance"])] = owner[key]
    else:
        owner.append(owner[key])
    return document


def changed_table(data: bytes, rng: random.Random) -> bytes:
    """Change cells, types, columns or rows of a Parquet file, or its bytes."""
    table = pl.read_parquet(io.BytesIO(data))
    name = rng.choice(table.columns)
    row, n = (pl.int_range(pl.len()) == rng.randrange(max(table.height, 1))), rng.randrange(table.height + 1)
    column = pl.col(name)
    value = pl.lit(rng.choice(CELLS)).cast(table[name].dtype, strict=False)
    changes: list[Callable[[], pl.DataFrame]] = [
        lambda: table.with_columns(pl.when(row).then(value).otherwise(column).alias(name)),
        lambda: table.with_columns(pl.when(row).then(value).otherwise(column).alias(name)),
        lambda: table.with_columns(value.alias(name)),
        lambda: table.with_columns(column.cast(rng.choice(DTYPES), strict=False)),
        lambda: table.drop(name),
        lambda: table.rename({name: "x"}),
        lambda: table[:n],
        table.reverse,
        lambda: pl.concat([table, table[:n]]),
        lambda: table.with_columns(column.shift(1)),
        lambda: table.with_columns(x=pl.lit(1)),
        lambda: table.with_columns(pl.concat_list(column).alias(name)),
    ]
    if rng.random() < 0.2:
        return changed_bytes(data, rng)
    held = io.BytesIO()
    try:
        rng.choice(changes)().write_parquet(held)
    except pl.exceptions.PolarsError:  # no such change can be made
        return changed_bytes(data, rng)
    return held.getvalue()


class Tampering:
    """Two saved evaluations, of each format one, and mutations of them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.path = folder / "run.json"
        qrels = {f"q{n}": {"a": n % 3, "b": 1, "c": 0} for n in range(7)}
        run = {f"q{n}": {"a": 0.5, "b": 0.5, "c": 0.1 * n, "d": 0.5} for n in range(1, 8)}
        self.custom = dh.Custom("mine", lambda relevance: float(relevance[:1].sum()))
        self.original = dh.evaluate(qrels, run, ["nDCG@10", "MRR", "MR", self.custom], no_relevant="skip")
        self.original.save(self.path, method="t")
        self.data = self.path.read_bytes()
        self.document: dict[str, Any] = json.loads(self.data)
        self.first: dict[str, Any] = json.loads((FIRST_FORMAT / "last.json").read_bytes())
        self.beside = (FIRST_FORMAT / "last.parquet").read_bytes()

    def mutate(self) -> bool:
        """Write a mutated file; tell whether its hash is that of an honest one, so that it may be read."""
        rng = self.rng
        kind = rng.choice([self._bytes, self._value, self._sealed, self._table, self._first, self._first_table])
        return kind(rng)

    def _bytes(self, rng: random.Random) -> bool:
        head = self.data.index(b'"data"')
        cut = rng.choice([head, len(self.data)])  # most bytes are those of tables
        self.path.write_bytes(changed_bytes(self.data[:cut], rng) + self.data[cut:])
        return False

    def _value(self, rng: random.Random) -> bool:
        self.path.write_bytes(written(changed_value(self.document, rng)))
        return False

    def _sealed(self, rng: random.Random) -> bool:
        document = changed_value(self.document, rng)
        for _ in range(rng.choice([0, 0, 1])):
            document = changed_value(document, rng) if document else document
        seal(document)
        self.path.write_bytes(written(document))
        return True

    def _table(self, rng: random.Random) -> bool:
        document = json.loads(self.data)
        name = rng.choice(["queries", "scores", "retrieved", "judged"])
        table = changed_table(base64.b64decode(document["data"][name]), rng)
        document["data"][name] = base64.b64encode(table).decode()
        seal(document)
        self.path.write_bytes(written(document))
        return True

    def _first(self, rng: random.Random) -> bool:
        self.path.with_suffix(".parquet").write_bytes(self.beside)
        self.path.write_bytes(written(changed_value(self.first, rng)))
        return True

    def _first_table(self, rng: random.Random) -> bool:
        table = changed_table(self.beside, rng)
        self.path.with_suffix(".parquet").write_bytes(table)
        stated = self.first["per_query"] | {"sha256": hashlib.sha256(table).hexdigest()}
        self.path.write_bytes(written(self.first | {"per_query": stated}))
        return True

    def try_one(self) -> str:
        """Mutate, load and use what was loaded; return what was wrong with it, empty if it was read.

        Raises
        ------
        AssertionError
            A file without the right hash was read as another evaluation.
        Exception
            Whatever else than a `DataError` came.
        """
        is_sealed = self.mutate()
        try:
            loaded = dh.load_evaluation(self.path)
        except DataError as error:
            return str(error)
        if not is_sealed:
            assert repr(list(loaded)) == repr(list(self.original))
            assert (loaded.name, loaded.conventions) == (self.original.name, self.original.conventions)
        use(loaded, self.path.with_name("again.json"))
        return ""


def use(loaded: Evaluation, again: Path) -> None:
    """Do with an evaluation what people do."""
    repr(loaded), loaded.to_dict(), loaded.to_polars(), loaded.intervals(method="t")
    loaded.save(again, method="t")
    assert repr(dh.load_evaluation(again).means()) == repr(loaded.means())
    if loaded.has_placements:
        drawn = policies.draw(loaded.placements, np.random.default_rng(0))
        for measure in loaded.measures:
            if str(measure) != "mine":
                measure.mean(drawn)
    dh.compare_evaluations({"a": loaded, "b": loaded.select(np.ones(len(loaded.query_ids), np.bool_))}, n_resamples=99)


def main(seconds: float) -> None:
    """Try for some seconds, and print what came of it."""
    folder = Path(tempfile.mkdtemp())
    found: dict[str, int] = {}
    end, seed = time.monotonic() + seconds, 0
    tampering = Tampering(folder, seed)
    while time.monotonic() < end:
        tampering.rng.seed(seed := seed + 1)
        try:
            what = "read" if not tampering.try_one() else "refused"
        except BaseException as error:  # noqa: BLE001 - to be counted, panics too
            what = f"{type(error).__name__}: {str(error)[:150]}"
            print(seed, what)  # noqa: T201 - a tool
            shutil.copy(tampering.path, folder / f"seed-{seed}.json")
        found[what] = found.get(what, 0) + 1
    print(folder, found)  # noqa: T201 - a tool


if __name__ == "__main__":
    main(float(sys.argv[1]))
