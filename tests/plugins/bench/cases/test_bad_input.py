"""Labelled cases that are refused: which message, and which place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import deadheat as dh
from deadheat.errors import (
    CasesError,
    ColumnError,
    DataError,
    DuplicateError,
    FileFormatError,
    MalformedRowError,
    ParameterError,
)
from deadheat.plugins.bench.cases import validate
from support.case_files import FIRST, SECOND, written
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from pathlib import Path

POSITIVE = "expected a positive number. Leave out an id that should not be found."


def test_every_bad_id_is_named_with_its_place(tmp_path: Path) -> None:
    rows = [
        {"text": "a", "expected_hpo_ids": ["HP:0001250", "HP:125", "hp:0000001"]},
        FIRST,
        {"case_id": "c", "text": "c", "expected_hpo_ids": ["HP:0001250", "HP:0001250", "HP:0001250"]},
    ]
    path = written(tmp_path, rows)
    with pytest.raises(CasesError) as caught:
        dh.read_cases(path)
    unlike = r"does not match ^HP:\d{7}$. In that form it is"
    assert str(caught.value).splitlines() == [
        f"{path}: 2 of 3 cases cannot be used:",
        f"  {path}:6: case 'cases-000': expected id 'HP:125' (number 2 of 3) {unlike} 'HP:0000125'.",
        f"  {path}:7: case 'cases-000': expected id 'hp:0000001' (number 3 of 3) {unlike} 'HP:0000001'.",
        f"  {path}:26: case 'c': expected id 'HP:0001250' appears 3 times. Keep it once.",
    ]
    assert [one.kind for one in caught.value.findings] == ["malformed_id", "malformed_id", "repeated_id"]
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [lines[one.line - 1].strip(' ",') for one in caught.value.findings] == ["HP:125", "hp:0000001", "HP:0001250"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"expected_ids": ["a"]}, "no field 'text'. Write what is searched for."),
        ({"text": " ", "expected_ids": ["a"]}, "text is empty. Write what is searched for."),
        ({"text": 3, "expected_ids": ["a"]}, "text must be in quotes, got 3."),
        ({"text": "t"}, "no field 'expected_ids'. List the ids that a search for the text should find."),
        ({"text": "t", "expected_ids": None}, "no field 'expected_ids'. List the ids that"),
        ({"text": "t", "expected_ids": "a"}, "expected_ids must be a list of ids, got 'a'. Write [\"a\"]."),
        ({"text": "t", "expected_ids": {"a": 1}}, 'expected_ids must be a list of ids, got {"a": 1}.'),
        ({"text": "t", "expected_ids": ["a", 3]}, "expected id 3 (number 2 of 2) is not text. Write it in quotes."),
        ({"text": "t", "expected_ids": ["a", ""]}, "expected id '' (number 2 of 2) is empty. Remove it."),
        ({"text": "t", "expected_ids": ["a "]}, "expected id 'a ' has spaces around it. Write 'a'."),
        ({"text": "t", "expected_ids": ["HP_0001250"]}, r"does not match ^HP:\d{7}$. In that form it is 'HP:0001250'."),
        ({"text": "t", "expected_hpo_ids": ["Seizure"]}, r"expected id 'Seizure' does not match ^HP:\d{7}$."),
        ({"text": "t", "expected_hpo_ids": ["1250"]}, "In that form it is 'HP:0001250'."),
        ({"text": "t", "expected_hpo_ids": ["HP:0001250 Seizure"]}, "In that form it is 'HP:0001250'."),
        ({"text": "t", "expected_hpo_ids": ["HP:0001250\n"]}, "In that form it is 'HP:0001250'."),
        ({"text": "t", "expected_hpo_ids": ["HP:०००१२५०"]}, "does not match"),
        (
            {"text": "t", "expected_ids": ["a"], "expected_hpo_ids": ["HP:0001250"]},
            "both expected_ids and expected_hpo_ids are given, expected one of them. Keep one list.",
        ),
        (
            {"text": "t", "expected_ids": ["a", "b"], "relevance": [1]},
            "relevance has 1 grade for 2 expected ids. Give one positive number for each expected id",
        ),
        (
            {"text": "t", "expected_ids": ["a"], "relevance": 2},
            "relevance must be a list of grades or {id: grade}, got 2.",
        ),
        ({"text": "t", "expected_ids": ["a"], "relevance": [0]}, "relevance of 'a' is 0, expected a positive number."),
        ({"text": "t", "expected_ids": ["a"], "relevance": [float("nan")]}, "relevance of 'a' is NaN, expected"),
        (
            {"text": "t", "expected_ids": ["a"], "relevance": ["2"]},
            "relevance of 'a' is '2', expected a positive number.",
        ),
        ({"text": "t", "expected_ids": ["a"], "relevance": [10**400]}, "relevance of 'a' is 1000000000"),
        ({"text": "t", "expected_ids": ["a"], "relevance": {"a": 10**400}}, "relevance of 'a' is 1000000000"),
        ({"text": "t", "expected_ids": ["a", "b"], "relevance": {"a": 2}}, "relevance has no grade for 'b'."),
        (
            {"text": "t", "expected_ids": ["doc1"], "relevance": {"doc1": 2, "dco1": 1}},
            "relevance grades 'dco1', which is not an expected id. Did you mean 'doc1'?",
        ),
        ({"text": "t", "expected_ids": ["a"], "case_id": ["x"]}, 'case_id must be text, got ["x"].'),
    ],
)
def test_a_case_that_cannot_be_used(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = written(tmp_path, [FIRST, row])
    with pytest.raises(CasesError) as caught:
        dh.read_cases(path)
    assert message in str(caught.value)
    assert f"{path}: 1 of 2 cases cannot be used:" in str(caught.value)
    lines = path.read_text(encoding="utf-8").splitlines()
    start = max(n for n, line in enumerate(lines, 1) if line == " {")
    assert all(start <= one.line <= len(lines) for one in caught.value.findings)


def test_a_case_id_stands_once(tmp_path: Path) -> None:
    path = written(tmp_path, [FIRST, {**SECOND, "case_id": "de_neuro_001"}])
    with pytest.raises(
        CasesError, match=r"cases.json:23: case 'de_neuro_001': the case on line 2 has this case_id too"
    ):
        dh.read_cases(path)
    with pytest.raises(CasesError, match=r"'cases-001'.* line 2 .*case_id"):
        dh.read_cases(written(tmp_path, [{**FIRST, "case_id": "cases-001"}, SECOND]))


def test_bad_grades_and_ids_of_a_table(tmp_path: Path) -> None:
    table = "text,expected_ids,relevance\nt,a|a,1|1\nu,a||b,\nv,a|b,1|x\n"
    with pytest.raises(CasesError) as caught:
        dh.read_cases(written(tmp_path, table, "c.csv"))
    assert [str(one).partition("c.csv:")[2] for one in caught.value.findings] == [
        "2: case 'c-000': expected id 'a' appears 2 times. Keep it once.",
        "3: case 'c-001': expected id '' (number 2 of 3) is empty. Remove it.",
        f"4: case 'c-002': relevance of 'b' is 'x', {POSITIVE}",
    ]


def test_patterns_of_other_ids(tmp_path: Path) -> None:
    path = written(tmp_path, [{"text": "t", "expected_hpo_ids": ["MONDO:0005148"]}])
    assert dh.read_cases(path, id_pattern=r"MONDO:\d{7}").cases[0].expected_ids == ("MONDO:0005148",)
    with pytest.raises(CasesError, match=r"'MONDO:0005148' does not match MONDO:\\d\{6\}"):
        dh.read_cases(path, id_pattern=r"MONDO:\d{6}")
    for wrong in ("(", 3):
        with pytest.raises(ParameterError, match=r"id_pattern must be a regular expression such as"):
            dh.read_cases(path, id_pattern=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        (
            "c.json",
            '{"cases": [\n{"text": "a",}\n]}',
            MalformedRowError,
            r"c.json:2: invalid JSON, (Expecting property name|Illegal trailing comma)",  # Python 3.13 says the latter
        ),
        (
            "c.json",
            '{"text": "a"}\n{"text": "b"}',
            MalformedRowError,
            r"c.json:2: .*this looks like JSON lines: name the file",
        ),
        (
            "c.json",
            '[{"text": "{\\"}", "expected_ids": ["b"]},\n {"x": {"y": 1},\n "text": "a", "text": "b"}]',
            DuplicateError,
            r"c.json:2: key 'text' appears twice in one object",
        ),
        ("c.jsonl", '{"text": "a", "text": "b"}', DuplicateError, r"c.jsonl:1: key 'text' appears twice in one object"),
        (
            "c.json",
            '[{"text": "a\\ud83d\\ude00", "expected_ids": ["b"]},\n{"case_id": "\\ud800", "text": "b"}]',
            MalformedRowError,
            r"""c.json:2: '"\\\\ud800"' has a lone surrogate, expected text that UTF-8 can hold""",
        ),
        ("c.json", "  \n", DataError, r"c.json: empty, expected a list of cases"),
        ("c.json", "[]", DataError, r"c.json: no case in it, expected at least one text with its expected ids"),
        ("c.json", "3", MalformedRowError, r"c.json:1: expected a list of cases, or an object with 'cases' .*got '3'"),
        (
            "c.json",
            '{"cases": {"a": 1}}',
            MalformedRowError,
            r"""c.json:1: expected a list of cases.*got '\{"a": 1\}'""",
        ),
        (
            "c.json",
            '{"case": []}',
            MalformedRowError,
            r"c.json:1: expected a list of cases, .*got an object with 'case'. Did you mean 'cases'\?",
        ),
        (
            "c.json",
            '{"cases": [],\n"test_cases": []}',
            MalformedRowError,
            r"c.json:2: found both 'cases' and 'test_cases', expected one of them",
        ),
        (
            "c.json",
            '[{"text": "a", "expected_ids": ["b"]},\n"x"]',
            CasesError,
            r"c.json:2: expected a case such as",
        ),
        (
            "c.json",
            '{"metadata": [],\n"cases": [{}]}',
            MalformedRowError,
            r"c.json:1: metadata must be an object such as",
        ),
        (
            "c.jsonl",
            '{"text": "a"}\n[1]',
            CasesError,
            r"c.jsonl:2: expected one JSON object a line, got '\[1\]'",
        ),
        ("c.jsonl", '{"text": "a"}\n{', CasesError, r"c.jsonl:2: invalid JSON, '\{': Expecting property name"),
        (
            "c.csv",
            "text,wanted\na,b\n",
            ColumnError,
            r"c.csv: cases without a column 'expected_ids': found 'text', 'wanted'",
        ),
        ("c.csv", "txet,expected_ids\na,b\n", ColumnError, r"cases without a column 'text': .*Did you mean 'text'\?"),
        ("c.csv", "text,expected_ids\na,b,c\n", CasesError, r"c.csv:2: expected 2 fields"),
        ("c.csv", "text,expected_ids\n", DataError, r"c.csv: no case in it"),
        (
            "c.csv",
            'text,expected_ids\na,b\n"c,d\ne,f\n',
            MalformedRowError,
            (
                r"c.csv:3: unmatched quotes from here on .*"
                r": a field that begins with a quote must end with one, and a quote inside it is doubled"
            ),
        ),
        ("c.csv", 'text,expected_ids\n"a" b,c\n', MalformedRowError, r"c.csv:2: unmatched quotes from here on "),
        ("c.txt", "a", FileFormatError, r"c.txt: cannot tell the format of these cases: name the file .json"),
        ("c.json", "\x00\x01", FileFormatError, r"c.json: expected text in UTF-8, got a binary file"),
    ],
)
def test_a_file_that_is_no_file_of_cases(
    name: str, text: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        dh.read_cases(written(tmp_path, text, name))


@pytest.mark.parametrize(
    ("name", "text", "misfit"),
    [
        (
            "c.json",
            '[{"text": "a", "expected_ids": ["HP:1"]},\n"x",\n{"text": "b", "expected_ids": ["HP:2"]}]',
            'expected a case such as {"text": ..., "expected_ids": [...]}, got \'"x"\'.',
        ),
        (
            "c.jsonl",
            '{"text": "a", "expected_ids": ["HP:1"]}\n[1]\n{"text": "b", "expected_ids": ["HP:2"]}',
            "expected one JSON object a line, got '[1]'.",
        ),
        (
            "c.csv",
            "text,expected_ids\na,HP:1\nx,y,z\nb,HP:2\n",
            "expected 2 fields (text,expected_ids), got 3: 'x,y,z'.",
        ),
        ("c.tsv", "text\texpected_ids\na\tHP:1\nx\nb\tHP:2\n", "expected 2 fields (text\texpected_ids), got 1: 'x'."),
    ],
)
def test_a_row_that_is_no_case_hides_no_other_error(name: str, text: str, misfit: str, tmp_path: Path) -> None:
    path = written(tmp_path, text, name)
    with pytest.raises(CasesError, match="3 of 3 cases cannot be used") as caught:
        dh.read_cases(path)
    first = 2 if name.endswith("sv") else 1
    found = [str(one).removeprefix(f"{path}:") for one in caught.value.findings]
    assert found[0].startswith(f"{first}: case 'c-000': expected id 'HP:1' does not match")
    assert found[1] == f"{first + 1}: {misfit}"
    assert found[2].startswith(f"{first + 2}: case 'c-002': expected id 'HP:2' does not match")
    assert [(one.kind, one.line) for one in validate(path).errors] == [
        ("malformed_id", first),
        ("malformed_row", first + 1),
        ("malformed_id", first + 2),
    ]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    written(tmp_path, [FIRST])
    with raises_parts(DataError, hint="Did you mean 'cases.json'?", problem="no such file"):
        dh.read_cases(tmp_path / "case.json")
    with raises_parts(ParameterError, given="jsn", allowed=("json", "jsonl", "csv", "tsv", "xlsx")):
        dh.read_cases(tmp_path / "cases.json", format="jsn")


def test_a_file_in_latin_1_is_named_with_the_line_and_what_to_do(tmp_path: Path) -> None:
    cases = ['{"text": "fever", "expected_ids": ["a"]}', '{"text": "M\u00fcdigkeit", "expected_ids": ["b"]}']
    texts = {
        "c.csv": "text,expected_ids\nM\u00fcdigkeit,b\n",
        "c.json": f"[{cases[0]},\n{cases[1]}]",
        "c.jsonl": "\n".join(cases),
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text.encode("latin-1"))
        with pytest.raises(
            FileFormatError, match=rf"{name}:2: the text is not UTF-8 \(byte 0xFC, ü in Windows-1252\): .*convert it"
        ):
            dh.read_cases(tmp_path / name)
        (finding,) = validate(tmp_path / name).findings
        assert (finding.place, finding.line) == (f"{tmp_path / name}:2", 2)
        assert "iconv -f cp1252 -t utf-8" in finding.message
        assert ("in Excel save it as" in finding.message) == (name == "c.csv")


NESTED = [
    pytest.param("[" * depth + "]" * depth, id=f"{depth} {name}")
    for depth, name in [(300, "lists"), (980, "lists"), (986, "lists"), (100_000, "lists")]
] + [pytest.param('{"a":' * 980 + "1" + "}" * 980, id="980 objects")]


@pytest.mark.slow
@pytest.mark.parametrize("value", NESTED)
@pytest.mark.parametrize("field", ["extra", "relevance", "text", "difficulty"])
def test_deeply_nested_json_is_bad_data_wherever_it_is(tmp_path: Path, value: str, field: str) -> None:
    text = "" if field == "text" else '"text": "t", '
    row = f'{{"case_id": "q", {text}"expected_ids": ["d"], "{field}": {value}}}'
    path, lines = tmp_path / "cases.json", tmp_path / "cases.jsonl"
    path.write_text(f"[{row}]")
    lines.write_text(f'{{"text": "t", "expected_ids": ["d"]}}\n{row}\n')
    for read in (dh.read_cases, dh.Queries):
        with pytest.raises(
            DataError, match=r"cases\.json: JSON with lists and objects nested more than 200 levels deep"
        ):
            read(path)
        with pytest.raises(
            DataError, match=r"cases\.jsonl:2: JSON with lists and objects nested more than 200 levels deep"
        ):
            read(lines)
    for one in (path, lines):
        (error,) = validate(one).errors
        assert "JSON with lists and objects nested more than 200 levels deep" in error.message


def test_json_that_is_nested_as_people_do_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    deep = "[" * 150 + "]" * 150
    path.write_text(f'[{{"text": "t", "expected_ids": ["d"], "difficulty": "easy", "note": {deep}}}]')
    assert len(dh.read_cases(path)) == 1
    assert not validate(path).errors


@pytest.mark.parametrize("digits", ["9" * 5_000, "-" + "1" * 4_301])
def test_a_number_of_thousands_of_digits_is_named_with_its_line(tmp_path: Path, digits: str) -> None:
    path, lines = tmp_path / "cases.json", tmp_path / "cases.jsonl"
    row = f'{{"text": "t", "expected_ids": ["d"], "case_id": {digits}}}'
    path.write_text(f'[\n{{"text": "t", "expected_ids": ["d"]}},\n{row}]')
    lines.write_text(f'{{"text": "t", "expected_ids": ["d"]}}\n{row}\n')
    with pytest.raises(DataError, match=r"cases\.json:3: a whole number of more than 4,300 digits"):
        dh.read_cases(path)
    with pytest.raises(DataError, match=r"cases\.jsonl:2: a whole number of more than 4,300 digits"):
        dh.read_cases(lines)
