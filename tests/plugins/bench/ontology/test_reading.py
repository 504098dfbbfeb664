"""Ontology files: the same terms from OBO, OBO Graphs JSON and OWL, and an error that names what is wrong."""

from __future__ import annotations

import gzip
import json
import re
import sys
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

import deadheat as dh
from deadheat.core.io import memory_limits
from deadheat.errors import DataError, DeadheatWarning, DuplicateError, FileFormatError, MissingDependencyError
from deadheat.plugins.bench.ontology import Synonym
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from pathlib import Path

OBO = """format-version: 1.2
data-version: 2025-01-16
synonymtypedef: layperson "layperson term"
ontology: toy

[Term]
id: X:0000001
name: root

[Term]
id: X:0000002
name: Größe
alt_id: X:0000022
synonym: "kid" EXACT layperson []
synonym: "offspring" BROAD []
is_a: X:0000001 ! root
relationship: part_of X:0000004

[Term]
id: X:0000003
name: obsolete gone
is_obsolete: true
replaced_by: X:0000002
consider: X:0000001

[Term]
id: X:0000004
is_a: X:0000001
"""

PURL = "http://purl.obolibrary.org/obo/"
NODES: list[dict[str, Any]] = [
    {"id": f"{PURL}X_0000001", "lbl": "root", "type": "CLASS"},
    {
        "id": f"{PURL}X_0000002",
        "lbl": "Größe",
        "type": "CLASS",
        "meta": {
            "synonyms": [
                {"pred": "hasExactSynonym", "val": "kid", "xrefs": []},
                {"pred": "hasBroadSynonym", "val": "offspring", "xrefs": []},
            ],
            "basicPropertyValues": [
                {"pred": "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId", "val": "X:0000022"}
            ],
        },
    },
    {
        "id": f"{PURL}X_0000003",
        "lbl": "obsolete gone",
        "type": "CLASS",
        "meta": {
            "deprecated": True,
            "basicPropertyValues": [
                {"pred": f"{PURL}IAO_0100001", "val": f"{PURL}X_0000002"},
                {"pred": "http://www.geneontology.org/formats/oboInOwl#consider", "val": "X:0000001"},
            ],
        },
    },
    {"id": f"{PURL}X_0000004", "type": "CLASS"},
]
EDGES = [
    {"sub": f"{PURL}X_0000002", "pred": "is_a", "obj": f"{PURL}X_0000001"},
    {"sub": f"{PURL}X_0000004", "pred": "is_a", "obj": f"{PURL}X_0000001"},
    {"sub": f"{PURL}X_0000002", "pred": f"{PURL}BFO_0000050", "obj": f"{PURL}X_0000004"},
]
GRAPH = {"id": f"{PURL}toy.owl", "meta": {"version": f"{PURL}toy/2025-01-16/toy.owl"}, "nodes": NODES, "edges": EDGES}
JSON = json.dumps({"graphs": [GRAPH]})

OWL = f"""<?xml version="1.0"?>
<rdf:RDF xmlns:obo="{PURL}" xmlns:owl="http://www.w3.org/2002/07/owl#"
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
  xmlns:oio="http://www.geneontology.org/formats/oboInOwl#">
<owl:Ontology rdf:about="{PURL}toy.owl">
  <owl:versionIRI rdf:resource="{PURL}toy/2025-01-16/toy.owl"/>
  <owl:imports rdf:resource="http://example.invalid/other.owl"/>
</owl:Ontology>
<owl:AnnotationProperty rdf:about="http://www.geneontology.org/formats/oboInOwl#SynonymTypeProperty"/>
<owl:AnnotationProperty rdf:about="{PURL}toy#layperson"><rdfs:label>layperson term</rdfs:label>
  <rdfs:subPropertyOf rdf:resource="http://www.geneontology.org/formats/oboInOwl#SynonymTypeProperty"/>
</owl:AnnotationProperty>
<owl:Class rdf:about="{PURL}X_0000001"><rdfs:label>root</rdfs:label></owl:Class>
<owl:Class rdf:about="{PURL}X_0000002"><rdfs:subClassOf rdf:resource="{PURL}X_0000001"/><rdfs:label>Größe</rdfs:label>
  <oio:hasExactSynonym>kid</oio:hasExactSynonym><oio:hasBroadSynonym>offspring</oio:hasBroadSynonym>
  <oio:hasAlternativeId>X:0000022</oio:hasAlternativeId></owl:Class>
<owl:Axiom><owl:annotatedSource rdf:resource="{PURL}X_0000002"/>
  <owl:annotatedProperty rdf:resource="http://www.geneontology.org/formats/oboInOwl#hasExactSynonym"/>
  <owl:annotatedTarget>kid</owl:annotatedTarget><oio:hasSynonymType rdf:resource="{PURL}toy#layperson"/></owl:Axiom>
<owl:Class rdf:about="{PURL}X_0000003"><rdfs:label>obsolete gone</rdfs:label>
  <owl:deprecated rdf:datatype="http://www.w3.org/2001/XMLSchema#boolean">true</owl:deprecated>
  <obo:IAO_0100001 rdf:resource="{PURL}X_0000002"/>
  <oio:consider rdf:datatype="http://www.w3.org/2001/XMLSchema#string">X:0000001</oio:consider></owl:Class>
<owl:Class rdf:about="{PURL}X_0000004"><rdfs:subClassOf rdf:resource="{PURL}X_0000001"/></owl:Class>
</rdf:RDF>
"""


def write(path: Path, text: str, *, encoding: str = "utf-8") -> Path:
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [("toy.obo", OBO), ("toy.obo.gz", OBO), ("toy.json", JSON), ("toy.json.gz", JSON), ("toy.owl", OWL), ("data", OBO)],
)
def test_every_format_holds_the_same(name: str, text: str, tmp_path: Path) -> None:
    ontology = dh.read_ontology(write(tmp_path / name, text))
    assert ontology.ids == ("X:0000001", "X:0000002", "X:0000004")
    assert ontology.labels == ("root", "Größe", "")
    assert ontology.parents == ((), (0,), (0,))
    layperson = "" if ".json" in name else "layperson"
    assert ontology.synonyms[1] == (Synonym("kid", "EXACT", layperson), Synonym("offspring", "BROAD"))
    assert ontology.obsolete == {"X:0000003": ("X:0000002", "X:0000001")}
    assert ontology.alternatives == {"X:0000022": "X:0000002"}
    assert ontology.version == "2025-01-16"
    assert ontology.path == tmp_path / name
    assert repr(ontology) == f"<Ontology {name} 2025-01-16: 3 terms>"


def test_synonym_types_of_json_are_missed_aloud(tmp_path: Path) -> None:
    text = JSON.replace('"val": "kid"', '"val": "kid", "synonymType": "http://example.org/toy#layperson"')
    with pytest.warns(DeadheatWarning, match="types of synonyms .* are not read from OBO Graphs JSON; read the OBO"):
        ontology = dh.read_ontology(write(tmp_path / "toy.json", text))
    assert ontology.synonyms[1][0] == Synonym("kid")


def test_an_obsolete_parent_is_left_out_aloud(tmp_path: Path) -> None:
    path = write(tmp_path / "toy.obo", OBO + "\n[Term]\nid: X:0000005\nis_a: X:0000003\n")
    with pytest.warns(DeadheatWarning, match=r"1 is_a relations? lead.* obsolete.*X:0000005 is_a X:0000003") as caught:
        ontology = dh.read_ontology(path)
    assert ontology.parents[-1] == ()
    assert [warning.filename for warning in caught] == [__file__]


def test_a_replacement_may_be_of_another_ontology(tmp_path: Path) -> None:
    path = write(tmp_path / "toy.obo", OBO.replace("replaced_by: X:0000002", "replaced_by: Y:7"))
    assert dh.read_ontology(path).obsolete == {"X:0000003": ("Y:7", "X:0000001")}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.obo", "", "expected OBO, OBO Graphs JSON or OWL"),
        ("a.obo", "id,text\n1,one\n", "expected OBO, OBO Graphs JSON or OWL"),
        ("a.json", '{"a": 1}', "JSON without a list of 'graphs'; expected OBO"),
        ("a.json", '{"graphs": []}', "JSON without a list of 'graphs'; expected OBO"),
        ("a.json", '{"graphs" : null}', "JSON without a list of 'graphs'"),
        ("a.json", '{"graphs": 1}', "expected OBO, OBO Graphs JSON or OWL"),
        ("a.owl", '<?xml version="1.0"?><a/>', "pronto cannot read it: could not find `owl:Ontology`"),
        ("a.obo", OBO + "\n[Term]\nidd X:4\n", r"a\.obo:31: expected OBO"),
        (
            "a.obo",
            OBO.replace("is_a: X:0000001 ! root", "is_a: X:9"),
            "refers to 'X:9' as its parent, which is not a term of the file",
        ),
        ("a.obo", OBO + "is_a: X:0000005\n\n[Term]\nid: X:0000005\nis_a: X:0000004\n", "must not be its own ancestor"),
        (
            "a.obo",
            OBO + 'synonym: "x" EXACT WEIRD []\n',
            "cannot be read .*type: WEIRD.*synonymtypedef",
        ),
        ("a.obo", OBO + "is_a: X:0000004\n\n", "is its own parent"),
        ("a.obo", OBO[: OBO.index("[Term]")], "at least one term that is not obsolete"),
    ],
)
def test_a_broken_file_is_an_error_that_names_it(name: str, text: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, text)
    with pytest.raises(DataError, match=message) as caught:
        dh.read_ontology(path)
    assert re.search(re.escape(name), str(caught.value))


@pytest.mark.slow
def test_latin_1_and_cut_archives_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="UTF-8"):
        dh.read_ontology(write(tmp_path / "a.obo", OBO, encoding="latin-1"))
    cut = tmp_path / "a.obo.gz"
    cut.write_bytes(gzip.compress(OBO.encode())[:100])
    with pytest.raises(DataError, match=r"truncated|damaged|cannot read"):
        dh.read_ontology(cut)


def test_no_such_file(tmp_path: Path) -> None:
    (tmp_path / "hp.obo").touch()
    with raises_parts(DataError, hint="Did you mean 'hp.obo'?", problem="no such file"):
        dh.read_ontology(tmp_path / "hp.oboo")


def test_a_missing_pronto_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "toy.obo", OBO)
    monkeypatch.setitem(sys.modules, "pronto", None)
    monkeypatch.setitem(sys.modules, "pronto.ontology", None)
    with raises_parts(MissingDependencyError, hint="pip install 'deadheat[ontology]'"):
        dh.read_ontology(path)


@pytest.mark.parametrize(
    "text",
    [
        '{"graphs":\n' + '[{"graphs":' * 2_000 + "[]" + "}]" * 2_000 + "}",
        '{"graphs": [],\n "x": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"graphs": [],\n "x": "\\"", "y": ' + "[" * 1_500,
    ],
    ids=["graphs", "lists", "cut off"],
)
def test_deeply_nested_json_is_refused_before_it_is_parsed(tmp_path: Path, text: str) -> None:
    path = tmp_path / "deep.json"
    path.write_text(text, encoding="utf-8")
    told = r"deep\.json: JSON with lists and objects nested more than 200 levels"
    try:
        json.loads(text)
    except ValueError:  # since Python 3.13 its parser goes so deep, and finds first that the text is cut off
        told = r"deep\.json:2: invalid JSON, Expecting value"
    except RecursionError:
        pass
    with pytest.raises(FileFormatError, match=told):
        dh.read_ontology(path)


def test_brackets_in_texts_do_not_nest(tmp_path: Path) -> None:
    path = tmp_path / "toy.json"
    nodes = [{"id": f"{PURL}X_0000001", "lbl": '\\"[{' * 2_000, "type": "CLASS"}]
    path.write_text(json.dumps({"graphs": [{"id": f"{PURL}x.owl", "nodes": nodes, "edges": []}]}), encoding="utf-8")
    assert dh.read_ontology(path).labels == ('\\"[{' * 2_000,)


def test_a_term_that_is_described_twice_is_an_error(tmp_path: Path) -> None:
    """Both were merged, and the last name won."""
    twice = "\n[Term]\nid: X:0000002\nname: other\n"
    path = write(tmp_path / "toy.obo", OBO + twice)
    line = (OBO + twice).splitlines().index("name: other")
    message = rf"toy\.obo:{line}: term 'X:0000002' is described twice \(lines \d+ and {line}\), expected once"
    with pytest.raises(DuplicateError, match=message):
        dh.read_ontology(path)
    with pytest.raises(DuplicateError, match=r"'X:0000002' .*twice"):
        dh.read_ontology(write(tmp_path / "crlf.obo.gz", (OBO + twice).replace("\n", "\r\n")))


def test_a_node_of_json_that_is_there_twice_is_an_error(tmp_path: Path) -> None:
    graph = json.loads(JSON)["graphs"][0]
    graph["nodes"].append({**graph["nodes"][0], "lbl": "other"})
    with pytest.raises(DuplicateError, match=r"X_0000001' .*twice"):
        dh.read_ontology(write(tmp_path / "toy.json", json.dumps({"graphs": [graph]})))


def test_an_alternative_id_of_two_terms_is_an_error(tmp_path: Path) -> None:
    text = OBO.replace("id: X:0000004\n", "id: X:0000004\nalt_id: X:0000022\n")
    with pytest.raises(DuplicateError, match=r"'X:0000022' .*'X:0000004'"):
        dh.read_ontology(write(tmp_path / "toy.obo", text))


def test_comments_and_blank_lines_are_left_out(tmp_path: Path) -> None:
    """pronto refuses comments in the header, and panics on many behind a term."""
    path = tmp_path / "x.obo"
    terms = "[Term]\nid: T:1\n! a\nname: a\n\n[Term]\nid: T:2\nname: b\nis_a: T:1 ! a\n"
    path.write_text(f"! first\nformat-version: 1.2\n! why\n\n{terms}" + "! a comment\n" * 3_000 + "\n" * 3_000)
    assert dh.read_ontology(path).ids == ("T:1", "T:2")
    path.write_text(f"! first\nformat-version: 1.2\n\n{terms}! a\nname b\n")
    with pytest.raises(FileFormatError, match="pronto cannot read it") as caught:
        dh.read_ontology(path)
    assert caught.value.line == 14


def test_a_compressed_ontology_has_a_limit(tmp_path: Path) -> None:
    """3 MB were 1.5 GB of comments."""
    path = tmp_path / "x.obo.gz"
    path.write_bytes(gzip.compress(b"format-version: 1.2\n\n[Term]\nid: T:1\nname: a\n" + b"! a comment\n" * 10_000))
    with (
        patch.multiple(memory_limits, _LEAST_ALLOWED=1_000_000, _LARGEST_RATIO=1),
        pytest.raises(FileFormatError, match="held"),
    ):
        dh.read_ontology(path)
