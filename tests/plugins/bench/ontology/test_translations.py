"""Tables of translated names: which forms are read, which rows count, and what is refused with which place."""

from __future__ import annotations

import csv
import gzip
import re
from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat.errors import ColumnError, DataError, FileFormatError, MalformedRowError, NoteWarning, ParameterError
from deadheat.plugins.bench.ontology import Ontology, Synonym, read_translations
from support.error_parts import raises_parts
from support.shared_data import SHARED, hpo_ontology

if TYPE_CHECKING:
    from pathlib import Path

HPO = SHARED / "data" / "hpo"
needs_tables = pytest.mark.skipif(
    not (HPO / "translations").is_dir(),
    reason="the tables of translations (shared/data/hpo/translations beside the repository) are not here",
)
TERMS = Ontology.from_parents(
    {"T:0001": [], "T:0002": ["T:0001"], "T:0003": ["T:0001"]},
    labels={"T:0001": "Finding", "T:0002": "Seizure", "T:0003": "Fever"},
    synonyms={"T:0002": [Synonym("Fits")]},
    alternatives={"T:0009": "T:0002"},
)
BABELON = (
    "source_language\tsource_value\tsubject_id\tpredicate_id\ttranslation_language\ttranslation_value"
    "\ttranslation_status\ttranslator\n"
    "en\tSeizure\tT:0002\trdfs:label\tfr\tCrise\tOFFICIAL\t\n"
    "en\tSeizure\tT:0002\trdfs:label\tfr\tCrise\tOFFICIAL\t\n"
    "en\tSeizure\tT:0002\trdfs:label\tfr\tCrise épileptique\tOFFICIAL\t\n"
    "en\tFits\tT:0002\toboInOwl:hasExactSynonym\tfr\tConvulsions\tCANDIDATE\tDeepL\n"
    "en\tFever\tT:0003\tIAO:0000115\tfr\tUne température élevée.\tOFFICIAL\t\n"
    "en\tFever\tT:0003\trdfs:label\tfr\t\tNOT_TRANSLATED\t\n"
    "en\tNewer\tT:0008\trdfs:label\tfr\tRécent\tOFFICIAL\t\n"
)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def test_a_babelon_table_is_read_as_it_is(tmp_path: Path) -> None:
    table = read_translations(written(tmp_path, "hp-fr.babelon.tsv.gz", BABELON))
    assert (table.language, table.source_language, len(table.rows)) == ("fr", "en", 5)
    assert [(row.text, row.scope, row.line) for row in table.rows[2:4]] == [
        ("Crise épileptique", "LABEL", 4),
        ("Convulsions", "EXACT", 5),
    ]


def test_a_template_of_synonyms_is_read_as_it_is(tmp_path: Path) -> None:
    head = "subject_id\ttranslation_value\tcomment\nID\tAL oboInOwl:hasExactSynonym@de SPLIT=|\t\n"
    text = f"{head}T:0002\tAnfall|Krampf\tx\n"
    table = read_translations(written(tmp_path, "synonyms.tsv", text))
    assert (table.language, [row.text for row in table.rows]) == ("de", ["Anfall", "Krampf"])


def test_every_label_counts_once_and_terms_without_one_keep_theirs(tmp_path: Path) -> None:
    found = TERMS.translated(written(tmp_path, "hp-fr.babelon.tsv", BABELON))
    assert found.labels == ("Finding", "Crise", "Fever")
    assert found.synonyms == ((), (Synonym("Crise épileptique", "EXACT", "label"),), ())
    assert found.languages == ("fr", "en")
    of_table, of_others = found.notes
    assert of_table == (
        "hp-fr.babelon.tsv (fr): 1 of 3 terms have a name in it; 1 of them several labels, all of which count;"
        " 1 candidate left out (--candidates counts them); 1 id not of this release"
    )
    assert of_others == "2 terms without a translation keep the names of the ontology"
    assert found.ids == TERMS.ids
    assert found.similarity("T:0002", "T:0003") == TERMS.similarity("T:0002", "T:0003")


def test_the_names_of_the_ontology_may_stay_everywhere_or_nowhere(tmp_path: Path) -> None:
    path = written(tmp_path, "hp-fr.babelon.tsv", BABELON)
    both = TERMS.translated(path, original="also", candidates=True)
    assert both.labels == ("Finding", "Crise", "Fever")
    assert [one.text for one in both.synonyms[1]] == ["Convulsions", "Crise épileptique", "Fits", "Seizure"]
    none = TERMS.translated(path, original="none")
    assert (none.labels, none.languages) == (("", "Crise", ""), ("fr",))
    with pytest.warns(NoteWarning) as caught:
        documents = dh.read_collection(TERMS, texts=path, original="none")
    assert (documents.ids, documents.texts, documents.languages) == (("T:0002",), ("Crise",), ("fr",))
    assert [str(one.message) for one in caught] == list(none.notes)
    assert none.notes[1] == "2 terms without a translation are left out"


def test_labels_of_all_languages_are_documents_texts_without_synonyms_too(tmp_path: Path) -> None:
    """A second label, and that of another language, is no synonym that could be left out."""
    french = written(tmp_path, "hp-fr.babelon.tsv", BABELON)
    spanish = written(tmp_path, "hp-es.tsv", "hpo_id\tkind\ttext\nT:0002\tlabel\tConvulsión\nT:0002\tsynonym\tAtaque\n")
    named = TERMS.translated(spanish, french, original="also")
    with pytest.warns(NoteWarning, match="1 of 3 terms"):
        documents, every = dh.read_collection(named, synonyms="none"), dh.read_collection(named)
    assert (documents.texts[1], set(documents.synonyms[1])) == ("Convulsión", {"Crise", "Crise épileptique", "Seizure"})
    assert set(every.synonyms[1]) == {*documents.synonyms[1], "Ataque", "Fits"}


def test_the_first_of_several_languages_gives_the_label(tmp_path: Path) -> None:
    french = written(tmp_path, "hp-fr.babelon.tsv", BABELON)
    spanish = written(tmp_path, "hp-es.tsv", "hpo_id\tkind\ttext\nT:0002\tlabel\tConvulsión\nT:0003\tlabel\tFiebre\n")
    found = TERMS.translated(spanish, french)
    assert found.labels == ("Finding", "Convulsión", "Fiebre")
    assert [one.text for one in found.synonyms[1]] == ["Crise", "Crise épileptique"]
    assert found.languages == ("es", "fr")


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        ("a-fr.tsv", "hpo_id\tlabel\nT:0002\tCrise\n", ColumnError, r"a-fr.tsv:1: translations without a column"),
        (
            "a-fr.tsv",
            "hpo_id\ttext\tkind\nT:0002\tCrise\tname\n",
            MalformedRowError,
            r":2: unknown kind of text",
        ),
        ("a.tsv", "hpo_id\ttext\nT:0002\tCrise\n", FileFormatError, r"no language: .* a name such as hp-fr.tsv"),
        ("a-all.tsv", "hpo_id\ttext\nT:0002\tCrise\n", FileFormatError, r"no language"),
        ("a-xx.tsv", "hpo_id\ttext\nT:0002\tCrise\n", FileFormatError, r"no language"),
        (
            "a.tsv",
            "hpo_id\ttext\tlanguage\nT:0002\tCrise\tFrench\n",
            MalformedRowError,
            r":2: no language, expected a code .*, got 'French'. Did you mean 'fr'\?",
        ),
        (
            "a.tsv",
            "hpo_id\ttext\tlanguage\nT:0002\tCrise\tfr\nT:0003\tFieber\tde\n",
            MalformedRowError,
            r":3: a table has one language, expected 'fr' as in the first row, got 'de'",
        ),
        ("a-fr.tsv", "hpo_id\ttext\n\tCrise\n", MalformedRowError, r":2: empty id"),
        ("a-fr.tsv", "hpo_id\ttext\nT:0002\t\n", DataError, r"no translated name in it"),
        (
            "a-fr.tsv",
            "hpo_id\ttext\nT:0002\tCrise\nT_0003\tFièvre\n",
            MalformedRowError,
            r":3: the id is written like no id of the ontology.*Did you mean 'T:0003'\?",
        ),
        ("a-fr.tsv", "hpo_id\ttext\nX:12\tCrise\n", MalformedRowError, r":2: .*is it a table of another ontology\?"),
        ("a-fr.tsv", "hpo_id\ttext\nT:0007\tCrise\n", FileFormatError, r"no id in it is one of the ontology: 'T:0007'"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(
    tmp_path: Path, name: str, text: str, error: type[DataError], message: str
) -> None:
    path = written(tmp_path, name, text)
    with pytest.raises(error, match=message):
        TERMS.translated(path)


def test_arguments_that_cannot_be_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "hp-fr.babelon.tsv", BABELON)
    with raises_parts(ParameterError, argument="original", given="English", allowed=("fallback", "also", "none")):
        TERMS.translated(path, original="English")
    documents = written(tmp_path, "documents.csv", "doc_id,text\nT:0001,Finding\n")
    with raises_parts(ParameterError, argument="texts", found="a table"):
        dh.read_collection(documents, texts=path)
    with pytest.raises(ParameterError, match=r"language must be a code"):
        dh.read_collection(documents, language="english")
    assert dh.read_collection(documents, language="en").languages == ("en",)


@pytest.mark.slow
@needs_tables
@pytest.mark.parametrize("language", ["de", "es", "fr", "it", "pt"])
def test_the_tables_of_hpo_give_the_names_that_stand_in_them(language: str) -> None:
    """Each accepted text of a term is one of its names, and nothing else is; five French terms have several labels."""
    table = HPO / "translations" / f"hp-{language}.tsv.gz"
    with gzip.open(table, "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    expected: dict[str, set[str]] = {}
    for row in rows:
        if row["status"] != "CANDIDATE":
            expected.setdefault(row["hpo_id"], set()).add(row["text"])
    found = hpo_ontology().translated(table, original="none")
    for term, label, synonyms in zip(found.ids, found.labels, found.synonyms, strict=True):
        assert {label, *(one.text for one in synonyms)} - {""} == expected.get(term, set()), term
    n_named = len(expected.keys() & set(hpo_ontology().ids))
    assert found.notes[0].startswith(
        f"{table.name} ({language}): {n_named:,} of {len(hpo_ontology()):,} terms have a name"
    )
    assert ("5 of them several labels" in found.notes[0]) == (language == "fr")
    assert re.search(
        rf"{len(hpo_ontology()) - n_named:,} terms? without a translation (is|are) left out", found.notes[1]
    )
