"""Cells of tables of cases that hold several ids with another sign than | between them."""

from __future__ import annotations

from pathlib import Path

import pytest

import deadheat as dh
from deadheat.errors import CasesError, NoteWarning
from deadheat.plugins.bench.cases import Case, Cases
from support.command import call, ok

DOCUMENTS = {"D1": "owl", "D2": "wren", "D3": "fish", "x;y": "odd"}


def cases_of(folder: Path, cell: str, name: str = "cases.csv", *, relevance: str = "") -> Path:
    path, mark = folder / name, "\t" if name.endswith(".tsv") else ","
    quoted = f'"{cell.replace(chr(34), chr(34) * 2)}"'
    head = ["text", "expected_ids", *(["relevance"] if relevance else [])]
    rows = [head, ["bird", quoted, *([relevance] if relevance else [])], ["fish", "D3", *(["1"] if relevance else [])]]
    path.write_text("\n".join(map(mark.join, rows)) + "\n")
    return path


def collection(folder: Path) -> Path:
    path = folder / "docs.csv"
    path.write_text("doc_id,text\n" + "".join(f'"{doc}",{text}\n' for doc, text in DOCUMENTS.items()))
    return path


@pytest.mark.parametrize("name", ["cases.csv", "cases.tsv"])
@pytest.mark.parametrize("cell", ["D1;D2", "D1,D2", "D1; D2", "D2 , D1", "D1\nD2", "D1 / D2"])
def test_several_ids_of_the_collection(cell: str, name: str, tmp_path: Path) -> None:
    """They were one unknown id, which no search finds."""
    path = cases_of(tmp_path, cell, name)
    with pytest.warns(NoteWarning, match=r"1 cell with another sign than \| read as several ids: D"):
        found = dh.bench(path, collection(tmp_path), ["bm25"], measures=["R@5"])
    plain = dh.bench(cases_of(tmp_path, "D1|D2"), collection(tmp_path), ["bm25"], measures=["R@5"])
    ids = [[sorted(case.expected_ids) for case in part.cases] for one in (found, plain) for part in one.parts.values()]
    assert ids[0] == ids[1] == [["D1", "D2"], ["D3"]]
    assert "read as several ids" in str(found)


@pytest.mark.parametrize("cell", ['["D1"]', '["D1", "D2"]', '["D1","D2"]'])
def test_a_list_of_json_in_a_cell(cell: str, tmp_path: Path) -> None:
    first, _ = dh.read_cases(cases_of(tmp_path, cell))
    assert first.expected_ids == tuple(one for one in ("D1", "D2") if one in cell)
    graded = dh.read_cases(cases_of(tmp_path, '["D1", "D2"]', relevance='"[2, 0.5]"'))
    assert graded.cases[0].relevance == (2.0, 0.5)
    numbers, _ = dh.read_cases(cases_of(tmp_path, "[7, 8]"))
    assert numbers.expected_ids == ("7", "8")


@pytest.mark.parametrize("cell", [";", ",", "and", "|"])
def test_a_cell_of_signs_alone_is_no_empty_list(cell: str, tmp_path: Path) -> None:
    """It was read as a case that expects nothing, which counts 0 in every mean."""
    if cell == "|":
        with pytest.raises(CasesError, match="is empty"):
            dh.read_cases(cases_of(tmp_path, cell))
    else:
        with pytest.warns(NoteWarning, match="expected ids are not in docs"):
            dh.bench(cases_of(tmp_path, cell), collection(tmp_path), ["bm25"], measures=["R@5"])


def test_an_empty_list_in_a_cell_expects_nothing(tmp_path: Path) -> None:
    nothing, other = dh.read_cases(cases_of(tmp_path, "[]"))
    assert (nothing.expected_ids, other.expected_ids) == ((), ("D3",))
    found = dh.bench(tmp_path / "cases.csv", collection(tmp_path), ["bm25"], measures=["R@5"])
    (evaluation,) = found.evaluations.values()
    assert evaluation["R@5"].values.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("cell", ["D1;D9", "D8,D9", "D9;nowhere;D1"])
def test_ids_that_the_collection_lacks_are_an_error(cell: str, tmp_path: Path) -> None:
    several = cell.replace(";", "|").replace(",", "|").replace("|", r"\|")
    message = rf"cases\.csv:2: case 'cases-000': '{cell}' is read as one id; if it is several, write '{several}'"
    with pytest.raises(CasesError, match=message):
        dh.bench(cases_of(tmp_path, cell), collection(tmp_path), ["bm25"], measures=["R@5"])


def test_an_id_of_the_collection_is_left_alone(tmp_path: Path) -> None:
    found = dh.bench(cases_of(tmp_path, "x;y"), collection(tmp_path), ["bm25"], measures=["R@5"])
    (part,) = found.parts.values()
    assert part.cases.cases[0].expected_ids == ("x;y",)


def test_without_a_collection(tmp_path: Path) -> None:
    """An evaluation of a run does not know the documents: ids that are written alike are an error."""
    run = tmp_path / "x.run"
    run.write_text("cases-000 Q0 D1 1 2 r\ncases-001 Q0 D3 1 2 r\n")
    result = call("evaluate", str(cases_of(tmp_path, "D1;D2")), str(run), "-m", "R@5")
    assert (result.exit_code, "write 'D1|D2'" in result.stderr) == (3, True)
    for cell in ("10.1002/3.0.CO;2-9", "Smith, John", "D1|D2"):
        assert "R@5" in ok("evaluate", str(cases_of(tmp_path, cell)), str(run), "-m", "R@5")


def test_lists_of_json_are_exact() -> None:
    assert Cases("mine", {}, (Case("a", "owl", ("D1;D2",), (1.0,)),)).qrels().to_dict() == {"a": {"D1;D2": 1.0}}


@pytest.mark.parametrize("between", [", ", ",", ";", "; ", "\n", " / ", "/", " ", " + ", " und ", " and ", "|", ",\n"])
@pytest.mark.parametrize("column", ["expected_ids", "HPO-ID"])
def test_ids_of_hpo_in_any_usual_form(column: str, between: str, tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_text(f'text,{column}\n"x","HP:0001250{between}HP:0001251"\n"y","HP:0000252{between}"\n')
    several, one = dh.read_cases(path)
    assert several.expected_ids == ("HP:0001250", "HP:0001251")
    assert one.expected_ids == ("HP:0000252",)


def test_ids_of_a_given_pattern_in_any_usual_form(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_text('text,expected_ids\n"x","M:7 / M:8"\n')
    (case,) = dh.read_cases(path, id_pattern="M:[0-9]")
    assert case.expected_ids == ("M:7", "M:8")
    path.write_text('text,HPO-ID\n"x","HP:0001250, HP:125"\n')
    with pytest.raises(CasesError, match=r"cases.csv:2: .*'HP:0001250, HP:125' does not match"):
        dh.read_cases(path)


def test_grades_with_decimal_commas_where_semicolons_separate(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_text("text;expected_ids;relevance\nbird;D1|D2;1,5|0,25\nfish;D3;2\n")
    assert [case.relevance for case in dh.read_cases(path)] == [(1.5, 0.25), (2.0,)]
    path.write_text('text,expected_ids,relevance\nbird,D1,"1,5"\n')
    with pytest.raises(CasesError, match="'1,5', expected a positive number"):
        dh.read_cases(path)
