"""Texts in the place of ids: errors and a warning say what deadheat compares, and how ids are made of texts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import deadheat as dh
from deadheat.core.io.texts import MATCH_TEXTS
from deadheat.errors import Advice, ColumnError, NothingJudgedWarning, SourceTypeError
from support.command import call
from support.error_parts import raises_parts

EXPECTED = "Paris is the capital of France."
CHUNK = "Europe has many capitals. Paris is the capital of France. Rome is that of Italy."
OTHER = "Nothing of this is about a capital of any country."
FOUND = [OTHER, CHUNK]


def run_as_advised(text: str) -> dict[str, list[str]]:
    """Make a run of the found texts with the expression that a message has."""
    expression = re.search(r"next\(.*?, chunk\)", text)
    assert expression is not None
    expected = {"p1": EXPECTED}
    return {"q": [eval(expression[0], {"expected": expected, "chunk": chunk}) for chunk in FOUND]}  # noqa: S307 - ours


def check(text: str) -> None:
    """Hold a message to what it has to say, and follow it."""
    assert "ids, or spans" in text
    assert "dh.Spans" in text
    run = run_as_advised(text)
    assert run == {"q": [OTHER, "p1"]}
    assert dh.evaluate({"q": ["p1"]}, run, "RR").means() == {"RR": 0.5}


@pytest.mark.plugins("exports")
@pytest.mark.parametrize("name", ["text", "content", "page_content"])
def test_results_with_a_text_and_no_id(name: str) -> None:
    results: list[Any] = [{name: FOUND[0], "score": 0.5}, {name: FOUND[1], "score": 0.25}]
    for given in (results, [SimpleNamespace(**result) for result in results]):
        with raises_parts(SourceTypeError) as caught:
            dh.Run.of_results({"q": given})
        check(str(caught.value))
        # what it says of equal texts
        assert f'dh.Run.of_results(results, id="{name}")' in str(caught.value)
        assert dh.Run.of_results({"q": given}, id=name).to_dict() == {"q": {OTHER: 0.5, CHUNK: 0.25}}


@pytest.mark.plugins("exports")
def test_a_text_under_another_name_is_no_id() -> None:
    with raises_parts(SourceTypeError) as caught:
        dh.Run.of_results({"q": [{"body": OTHER, "score": 0.5}]})
    check(str(caught.value))


@pytest.mark.plugins("exports")
def test_an_id_beside_a_text_is_advised() -> None:
    result = SimpleNamespace(page_content=CHUNK, metadata={"source": "a.txt"})
    with raises_parts(SourceTypeError, hint='write dh.Run.of_results(results, id="metadata.source")'):
        dh.Run.of_results({"q": [result]})


RAGAS = [{"user_input": "q", "retrieved_contexts": FOUND, "reference_contexts": [EXPECTED], "reference": "Paris"}]


def test_samples_of_ragas_with_texts() -> None:
    for read, column in ((dh.read_run, "retrieved_contexts"), (dh.read_qrels, "reference_contexts")):
        with raises_parts(ColumnError) as caught:
            read(RAGAS)
        check(str(caught.value))
        assert isinstance(caught.value.hint, Advice)
        assert caught.value.hint.value == {"doc_id": column}
        read(RAGAS, columns={"doc_id": column})  # as it says of equal texts


def test_texts_of_a_file_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(json.dumps(RAGAS[0]) + "\n")
    told = call("evaluate", path, path)
    assert told.exit_code == 3
    check(told.stderr)
    assert "--columns qrels.doc_id=reference_contexts" in told.stderr


@pytest.mark.parametrize("row", [{"text": CHUNK, "score": 1.0}, {"contexts": [CHUNK]}])
def test_rows_with_texts(row: dict[str, Any]) -> None:
    with raises_parts(ColumnError) as caught:
        dh.read_run([{"query_id": "q", **row}])
    check(str(caught.value))


@pytest.mark.parametrize("name", ["id", "chunkIds", "doc_idd"])
def test_ids_beside_texts_are_found_by_their_name(name: str) -> None:
    with raises_parts(ColumnError) as caught:
        dh.read_run([{"query_id": "q", name: "a", "text": CHUNK, "score": 1.0}])
    assert MATCH_TEXTS not in str(caught.value)


def test_texts_given_as_ids_that_do_not_match() -> None:
    with pytest.warns(NothingJudgedWarning) as caught:
        dh.evaluate({"q": [EXPECTED]}, {"q": FOUND}, "RR")
    check(str(caught[0].message))
    assert dh.evaluate({"q": [CHUNK]}, {"q": FOUND}, "RR").means() == {"RR": 0.5}  # equal texts are one document


def test_texts_given_as_ids_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "qrels.json").write_text(json.dumps({"q": [EXPECTED]}))
    (tmp_path / "run.json").write_text(json.dumps({"q": [CHUNK]}))
    told = call("evaluate", tmp_path / "qrels.json", tmp_path / "run.json")
    check(" ".join(told.stdout.split()))


def test_other_ids_that_do_not_match_are_not_taken_for_texts() -> None:
    with pytest.warns(NothingJudgedWarning) as caught:
        dh.evaluate({"q": ["Canon EOS R5"]}, {"q": ["Canon EOS R6 Mark II", "d1"]}, "RR")
    assert MATCH_TEXTS not in str(caught[0].message)
