"""Errors and warnings carry their parts: nobody has to read their text."""

from __future__ import annotations

import ast
import copy
import inspect
import pickle
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import deadheat as dh
from deadheat.core import errors
from deadheat.errors import Advice, DeadheatError, DeadheatWarning
from deadheat.plugins.bench.retrievers.reranking import make_retrievers
from deadheat.plugins.gates.notation import parse_gate
from deadheat.stats import sample_size

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE = Path(dh.__file__).parent
QRELS, RUN = {"q1": {"d1": 1}}, {"q1": {"d1": 0.5}}
WRONG: Any = dh
CLASSES = [one for one in vars(errors).values() if inspect.isclass(one) and issubclass(one, DeadheatError)]

# where a text of another's exception is looked into, as it has no other handle
READERS = {
    "plugins/engines/by_query.py": "Spark: the module that its workers lack, in the traceback of one of them",
    "core/io/guarding.py": "PyO3: the first line of a panic of Polars",
    "core/io/lazy.py": "Polars, Narwhals: their first line, or all as one; DuckDB: whether Ctrl-C was pressed",
    "core/io/objects.py": "json: whether something follows the first value",
    "core/io/formats/csv_rows.py": "csv: which of its two errors it is",
    "plugins/bench/ontology/graph.py": "graphlib: the cycle, which it documents as the second argument",
    "plugins/bench/ontology/reading.py": "pronto, fastobo: what is wrong with a file",
    "core/evaluation/documents.py": "Polars, NumPy, Python: what is wrong with a value of a save",
    "plugins/figures/figures.py": "our own: which plugin a figure is of, as an AttributeError of the module",
    "plugins/figures/painter_process.py": "vl-convert: why it cannot draw, for the process that asked",
    "plugins/bench/retrievers/protocol.py": "Polars, NumPy: what is wrong with what a retriever returned",
    "plugins/bench/retrievers/embedding.py": "sentence-transformers: its first line",
    "plugins/conformance/reader.py": "a reader of somebody else: whether an error names both lines of a pair",
    "plugins/page/pictures.py": "the page says in words why there is no figure",
}


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (  # io
            lambda folder: dh.Run(folder / "short.run"),
            {
                "allowed": "6 fields (query_id Q0 doc_id rank score tag)",
                "found": "5: 'q1 Q0 d1 1 0.5'",
                "line": 2,
            },
        ),
        (
            lambda folder: dh.Run(folder / "table"),
            {"given": "query_id,doc_id,score", "hint": Advice("format", "csv", ".csv", when="this looks like a table")},
        ),
        (  # data
            lambda _: dh.Run(pl.DataFrame({"query_id": ["q1"], "doc_id": [880.0], "score": [1.0]})),
            {"problem": "column 'doc_id' holds Float64", "allowed": "text or whole numbers as ids"},
        ),
        (  # stats
            lambda _: sample_size(-1.0, 0.1, alternative="greater"),
            {"argument": "difference", "given": -1.0, "beside": {"alternative": "greater"}},
        ),
        (  # placements
            lambda _: dh.evaluate(QRELS, RUN, ties="bestt"),
            {"argument": "ties", "given": "bestt", "line": None},
        ),
        (  # measures
            lambda _: dh.parse_measure("P(rel='x')@5"),
            {"measure": "P", "argument": "rel", "given": "x", "allowed": "a number in (-inf, inf)", "hint": None},
        ),
        (lambda _: WRONG.P(10), {"measure": "P", "given": (10,)}),
        (  # evaluation
            lambda _: dh.evaluate(QRELS, RUN, ["RR"])["AP"],
            {"problem": "AP was not evaluated; this evaluation holds RR", "hint": None},
        ),
        (  # comparison
            lambda _: dh.compare(QRELS, {"a": RUN, "b": RUN}, ["RR"], baseline="c"),
            {"argument": "baseline", "given": "c", "allowed": ["a", "b"]},
        ),
        (  # profile
            lambda _: dh.tie_orders([1, 1], [1, 0], max_orders=0),
            {"argument": "max_orders", "given": 0, "allowed": "a whole number from 1 on"},
        ),
        (lambda _: parse_gate("nDCG@10"), {"problem": "cannot read the gate 'nDCG@10'"}),  # gates
        (  # benchmark
            lambda _: make_retrievers("bm25(k2=1)"),
            {"problem": "bm25 has no option 'k2'", "hint": re.compile("Its options: method, k1, b, .*")},
        ),
    ],
)
def test_errors_of_every_wing_have_parts(tmp_path: Path, call: Callable[[Path], Any], parts: dict[str, object]) -> None:
    (tmp_path / "short.run").write_text("q1 Q0 d1 1 0.5 t\nq1 Q0 d1 1 0.5\n")
    (tmp_path / "table").write_text("query_id,doc_id,score\nq1,d1,0.5\n")
    with pytest.raises(DeadheatError) as caught:
        call(tmp_path)
    for name, expected in parts.items():
        found = getattr(caught.value, name)
        if isinstance(expected, Advice):
            assert (found.argument, found.value, found.endings) == (expected.argument, expected.value, expected.endings)
        elif isinstance(expected, re.Pattern):
            assert expected.fullmatch(found)
        else:
            assert found == expected


def test_parts_become_a_sentence() -> None:
    told = {
        "x must be a number above 0, got 'y'": {"argument": "x", "given": "y", "allowed": "a number above 0"},
        "x is empty: name one": {"problem": "is empty", "argument": "x", "hint": "name one"},
        "x must be one of 'ab', 'cd', got 'abb'. Did you mean 'ab'?": {
            "argument": "x",
            "given": "abb",
            "allowed": ["ab", "cd"],
        },
        "x must be one of 'ab', got 'aa'": {"argument": "x", "given": "aa", "allowed": ["ab"]},  # said already
        "f:3: a row, expected 2 fields, got none; add one": {
            "problem": "a row",
            "found": "none",
            "allowed": "2 fields",
            "hint": "add one",
            "path": "f",
            "line": 3,
        },
        "x must be set, got None": {"argument": "x", "given": None, "allowed": "set"},
    }
    for text, parts in told.items():
        assert str(DeadheatError(**parts)) == text  # type: ignore[arg-type]


def test_a_text_of_a_file_is_cut() -> None:
    assert str(errors.DataError("a", given="x" * 500)) == f"a, got {'x' * 77 + '...'!r}"
    assert len(str(errors.ParameterError("a", given="x" * 500))) == len("a, got ''") + 200


@pytest.mark.parametrize("kind", [DeadheatWarning, *DeadheatWarning.__subclasses__()])
def test_warnings_are_picklable_and_keep_their_file_and_form(kind: type[DeadheatWarning]) -> None:
    warning = kind("{n} of {{all}}", "{a}.run", n=3)
    for again in (warning, pickle.loads(pickle.dumps(warning)), copy.copy(warning)):  # noqa: S301 - our own
        assert type(again) is kind
        assert (str(again), again.text, again.where) == ("{a}.run: 3 of {all}", "{n} of {{all}}", "{a}.run")
    assert str(kind("no {fields}")) == "no {fields}"


@pytest.mark.parametrize("kind", CLASSES)
def test_errors_are_picklable_and_keep_their_parts(kind: type[DeadheatError]) -> None:
    error = kind("wrong", path="a.run")
    vars(error).update(argument="x", is_given=True, given=None, hint=Advice("format", "csv", ".csv"), line=3)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301 - our own
        assert type(again) is kind
        assert vars(again) == vars(error)
        assert again.path == Path("a.run")
        assert str(again) == str(error) == "a.run:3: x wrong, got None; name the file .csv, or pass format='csv'"


def test_errors_are_of_one_tree_and_of_a_type_that_callers_catch() -> None:
    builtin = (ValueError, TypeError, ImportError, RuntimeError)
    assert all(issubclass(one, builtin) for one in CLASSES if one is not DeadheatError)


def readings(source: str) -> list[int]:
    """Return the lines where the text of an exception or a warning is looked into."""
    tree = ast.parse(source)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.name:
            for inner in ast.walk(node):
                is_text = isinstance(inner, ast.Attribute) and inner.attr in {"args", "msg", "message"}
                is_call = isinstance(inner, ast.Call) and ast.unparse(inner.func) in {"str", "repr"} and inner.args
                subject = inner.value if is_text else inner.args[0] if is_call else None  # type: ignore[attr-defined]
                if subject is not None and ast.unparse(subject) == node.name:
                    found.append(inner.lineno)  # type: ignore[attr-defined]
        if isinstance(node, ast.Call):
            function = ast.unparse(node.func)
            has_pattern = len(node.args) > 1 or any(one.arg == "message" for one in node.keywords)
            is_filter = function.endswith("filterwarnings") and has_pattern
            is_text = function == "str" and bool(node.args) and ast.unparse(node.args[0]).endswith(".message")
            found += [node.lineno] * (is_filter or is_text)
    return found


@pytest.mark.slow
def test_nobody_reads_the_text_of_an_error() -> None:
    files = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    assert {name for name, source in files.items() if readings(source)} == set(READERS)


@pytest.mark.parametrize(
    "source",
    [
        "try: f()\nexcept E as error:\n    g(str(error))",
        "try: f()\nexcept E as error:\n    g(error.args[0])",
        "warnings.filterwarnings('ignore', 'no judged', W)",
        "told = [str(one.message) for one in caught]",
    ],
)
def test_the_reader_of_readings_sees(source: str) -> None:
    assert readings(source)
    assert not readings("try: f()\nexcept E as error:\n    raise D(f'{error}') from error")
