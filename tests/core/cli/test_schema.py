"""The JSON Schemas of commands: each has one, and `support.command` holds all JSON of all tests against them."""

from __future__ import annotations

import json

import jsonschema
import pytest

from deadheat.core import hooks
from support.command import call, ok
from support.json_schemas import SAMPLES, names, schemas, written


@pytest.mark.parametrize("name", names())
def test_each_command_that_prints_json_has_a_schema(name: str) -> None:
    """A new command needs a line in `SAMPLES`, and `python -m support.json_schemas`."""
    assert any(line.startswith(f"{name} ") or line == name for line in SAMPLES.splitlines())
    schema = json.loads(ok("schema", name))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"].startswith("urn:deadheat:json:1:")


def test_a_command_without_json_has_none() -> None:
    result = call("schema", "evalute")
    assert result.exit_code == 2
    assert "Did you mean 'evaluate'?" in result.output


def test_a_schema_refuses_another_document() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"qrels": 1}, json.loads(ok("schema", "evaluate")))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_schemas_are_those_of_what_is_printed() -> None:
    """If this fails on purpose: PYTHONPATH=tests:src python -m support.json_schemas; read the difference."""
    found = schemas()
    assert {name: written(one) for name, one in found.items()} == {
        name: file.read_text(encoding="utf-8") for name, file in hooks.find_schemas().items()
    }
