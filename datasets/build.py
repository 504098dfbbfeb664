"""Build the case files of datasets/hpo from the Human Phenotype Ontology, its translations, and cases of others.

    python datasets/build.py ../shared/data/hpo

Nothing is written here but what the sources hold: English texts are labels and synonyms of HPO, letter for letter;
German texts and their English descriptions are those of the benchmark files of phentrieve; the texts of parallel sets,
of French, Italian, Portuguese and Spanish ones, and German layperson's terms are those of HPO's translations. What the
cases say of themselves is computed:

difficulty
    How much of the expected term's label can be read in the text, and nothing else: no person rated anything. Words
    are taken in lower case, without accents, with a blank before and after; of their letter triples, the text and the
    label share 2 |A & B| / (|A| + |B|). From 1/2 on a case is easy, from 1/4 on medium, below that hard; of several
    expected terms the nearest label counts. A label is easy by definition, "Krampfanfälle" for "Seizure" is hard.
category
    English: what the text is to the term: exact_match (its label), or an EXACT synonym of type abbreviation,
    layperson, or none (synonym). German: the same of the English description that the source gives the text, by the
    first of exact_match, abbreviation, layperson, synonym. Nothing is called complex: nobody looked.
domain
    The child of HP:0000118 (Phenotypic abnormality) above the term. A term under several has the one that most of its
    ancestors are under (itself included); of those, the one with the fewest terms; then the lowest id.

Cases are drawn one by one, English ones from the category with the fewest so far and in it from the domain with the
fewest, German ones from the domain and in it from the category (nearly all are exact_match). Chance is a hash of a seed
and of what is drawn, so that it depends on no version of Python. No two cases of a language have a text or an expected
term in common. A file holds the first cases of the next larger one, drawn alike.
German cases up to the standard file are translations of names of a term; phrases for which the source names a term that
may only be near (570terms_german.json) come after them.

Parallel sets have the same terms in the same order in each language. A term is in one if its label is official in each
of the languages, and so that nothing is to be chosen or mended: made from the label that the release has, one alone in
each language, unlike the English one, not the label of another term too, with single blanks and without quotation marks
(some are those of the table, others of the text). Whether a label that equals the English one is the word in that
language, as "Prostatitis" in Spanish, or was never translated, nobody here can tell: none is taken. The cases are drawn
from the difficulty with the fewest so far (that of the language in which the text is hardest) and in it from the
domain. Layperson's terms are drawn from the domain.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from deadheat.plugins.bench.cases import folded, read_cases
from deadheat.plugins.bench.ontology import read_ontology, read_translations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from deadheat.plugins.bench.ontology import Ontology, Translations

SEED = "deadheat-hpo-v1"
ROOT = "HP:0000118"
SIZES = {"tiny": 9, "small": 50, "standard": 200, "comprehensive": 1000}  # or as many as there are
EASY, MEDIUM = 1 / 2, 1 / 4

# EXACT synonyms by type, the first that a string has. No English case is made of a variant of another string; what is
# named nowhere here (discarded synonyms, codes of allelic requirement) is no name
CATEGORIES = {"abbreviation": "abbreviation", "layperson": "layperson", "": "synonym"}
VARIANTS = {"plural_form": "synonym", "uk_spelling": "synonym"}
NAMES = {"synonym": "exact synonym", "layperson": "layperson synonym", "abbreviation": "abbreviation"}

# the name that case ids have in ../shared/data/hpo/runs, and what the file's name says of the translation
GERMAN = {
    "o70": "70cases_o3_v1.json",
    "g70": "70cases_gemini_v1.json",
    "o200": "200cases_o3_v1.json",
    "g200": "200cases_gemini_v1.json",
    "t570": "570terms_german.json",
}
NEAR = "t570"  # the one whose texts are no translations of their descriptions, or not all
MULTIPLE = "tiny_v1.json"  # small_v1.json is the same file

# folder -> languages; and whose names are cases of their own
PARALLEL = {
    "parallel-en-es-fr": ("en", "es", "fr"),
    "parallel-en-es-fr-pt": ("en", "es", "fr", "pt"),
    "parallel-six": ("de", "en", "es", "fr", "it", "pt"),
}
ALL_OF = ("parallel-six",)  # one file, of all terms: there are too few for more
MONOLINGUAL = {"french": "fr", "italian": "it", "portuguese": "pt", "spanish": "es"}
LAYPERSON = ("german-layperson", "de")
OFFICIAL = "OFFICIAL"
LANGUAGES = {
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "pt": "Portuguese",
}
LEVELS = ("easy", "medium", "hard")

ACKNOWLEDGEMENT = (
    "This service/product is using the Human Phenotype Ontology (version {version}). Find out more at"
    " http://www.human-phenotype-ontology.org"
)
DIFFICULTY = "computed, not rated by people: letter triples in common with the expected label; see datasets/build.py"
DOMAIN = f"child of {ROOT} above the expected term; the rule for terms under several is in datasets/build.py"
SOURCE = "datasets/hpo/SOURCE.md: where the texts come from, their licences, and what they cannot show"
ABOUT = {
    "en": "Labels and EXACT synonyms of HPO, letter for letter: an index that has them all only looks them up.",
    "de": "German texts by others, checked by nobody: case ids o... and g... are machine translations of names of the"
    " expected term (by o3 and gemini, say their files), t570-... phrases with a term that may only be near.",
}
OF_TRANSLATIONS = {
    "parallel": "Official labels of HPO in {language}, letter for letter; the cases of all languages of the set ask for"
    " the same terms in the same order, and pair_id says which belong together.",
    "label": "Official labels of HPO in {language}, letter for letter.",
    "layperson": "Layperson's terms of HPO in {language}, letter for letter.",
}
OF_NAMES = {
    "parallel": "what the text is to the expected term in HPO or its translation: its label",
    "label": "what the text is to the expected term in HPO's translation: its label",
    "layperson": "what the text is to the expected term in HPO's translation: a layperson's term",
}
CATEGORY = {
    "en": "what the text is to the expected term in HPO",
    "de": "what the English description is to the expected term in HPO; it says nothing of the German text",
}


class Phrase(NamedTuple):
    """A text and the terms that it names, sorted; without a case_id if the source has none.

    Of a parallel set it is English, and `hardest` the difficulty of the term where it is hardest.
    """

    text: str
    ids: tuple[str, ...]
    category: str
    description: str
    domain: str
    case_id: str = ""
    pair_id: str = ""
    hardest: str = ""


class Name(NamedTuple):
    """What a term is called, what that is to it, and whether an English case may be made of it."""

    text: str
    category: str
    is_drawn: bool


class Terms:
    """What the cases need of an ontology.

    Parameters
    ----------
    ontology : Ontology

    Attributes
    ----------
    labels : dict of str to str
    domains : dict of str to str
        The label of the branch of each term below `ROOT`, a branch itself included.
    names : dict of str to dict of str to Name
        By term: its label and EXACT synonyms, each by its folded form.
    """

    def __init__(self, ontology: Ontology) -> None:
        self.labels = dict(zip(ontology.ids, ontology.labels, strict=True))
        self.domains = {term: self.labels[branch] for term, branch in branches(ontology).items()}
        self.names: dict[str, dict[str, Name]] = {}
        for term, label, synonyms in zip(ontology.ids, ontology.labels, ontology.synonyms, strict=True):
            names = {folded(label): Name(label, "exact_match", is_drawn=True)}
            for kind, category in (CATEGORIES | VARIANTS).items():
                for synonym in synonyms:
                    if synonym.scope == "EXACT" and synonym.kind == kind:
                        names.setdefault(folded(synonym.text), Name(synonym.text, category, kind not in VARIANTS))
            self.names[term] = names


def branches(ontology: Ontology) -> dict[str, str]:
    """Return the branch of each term below the root: with most of its ancestors, then the smallest, then by id."""
    parents = {
        term: [ontology.ids[parent] for parent in own] for term, own in zip(ontology.ids, ontology.parents, strict=True)
    }

    @cache
    def lineage(term: str) -> frozenset[str]:
        return frozenset({term}).union(*map(lineage, parents[term]))

    below: dict[str, set[str]] = {term: set() for term in ontology.ids if ROOT in parents[term]}
    for term in ontology.ids:
        for branch in below.keys() & lineage(term):
            below[branch].add(term)
    found = {}
    for term in ontology.ids:
        own = below.keys() & lineage(term)
        if own:
            found[term] = min(own, key=lambda one: (-len(below[one] & lineage(term)), len(below[one]), one))
    return found


def triples(text: str) -> set[str]:
    """Return the letter triples of a text's words, in lower case, without accents, with a blank at either end.

    Examples
    --------
    >>> sorted(triples("Anämie"))
    [' an', 'ami', 'ana', 'ie ', 'mie', 'nam']
    """
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign))
    words = [f" {word} " for word in re.findall(r"[^\W_]+", bare)]
    return {word[start : start + 3] for word in words for start in range(len(word) - 2)}


def difficulty(text: str, labels: Iterable[str]) -> str:
    """Rate a text by the letter triples that it shares with the nearest of some labels.

    Examples
    --------
    >>> [difficulty(text, ["Cardiomyopathy"]) for text in ("Cardiomyopathies", "Myokardiopathie", "Herzmuskelleiden")]
    ['easy', 'medium', 'hard']
    """
    own = triples(text)
    shared = max(2 * len(own & other) / (len(own) + len(other)) for other in map(triples, labels))
    return "easy" if shared >= EASY else "medium" if shared >= MEDIUM else "hard"


def english(terms: Terms) -> list[Phrase]:
    """Return the labels and synonyms below the root; a string that several terms have names all of them."""
    owners: dict[str, list[str]] = defaultdict(list)
    for term in sorted(terms.domains):
        for key, name in terms.names[term].items():
            if name.is_drawn:
                owners[key].append(term)
    phrases = []
    for key, ids in owners.items():
        text, category, _ = terms.names[ids[0]][key]
        labels = " and ".join(f'"{terms.labels[term]}"' for term in ids)
        description = f"label of {ids[0]}" if category == "exact_match" else f"{NAMES[category]} of {labels}"
        phrases.append(Phrase(text, tuple(ids), category, description, terms.domains[ids[0]]))
    return phrases


def german(folder: Path, terms: Terms) -> tuple[list[Phrase], list[str]]:
    """Return the German cases whose English description is a name of the expected term, and what was left out."""
    phrases: dict[str, Phrase] = {}
    left_out = [f"{MULTIPLE}: {len(read_cases(folder / MULTIPLE))} cases that expect two terms and name neither"]
    for short, name in GERMAN.items():
        for place, case in enumerate(read_cases(folder / name)):
            (term,) = case.expected_ids
            said = folded(case.description)
            if said not in terms.names.get(term, {}):
                of = f"no name of {term} ({terms.labels[term]})" if term in terms.labels else f"{term} does not exist"
                left_out.append(f"{name}: {case.text} | {case.description}: {of}")
                continue
            description = " ".join(case.description.split())
            phrase = Phrase(
                " ".join(case.text.split()),
                case.expected_ids,
                terms.names[term][said].category,
                description,
                terms.domains[term],
                f"{short}-{place:03d}",
            )
            first = phrases.setdefault(case.folded_text, phrase)
            if first.ids != phrase.ids:
                msg = f"{phrase.case_id} and {first.case_id} expect different terms for the text {phrase.text!r}"
                raise ValueError(msg)
    return list(phrases.values()), left_out


def official(table: Translations, terms: Terms) -> tuple[dict[str, str], Counter[str]]:
    """Return the official label of each term that can be a case, and how many cannot, by the reason."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    owners: dict[str, set[str]] = defaultdict(set)
    for row in table.rows:
        if row.scope == "LABEL" and row.status == OFFICIAL:
            found[row.term].add((row.text, row.source))
            if row.term in terms.labels:  # not an id that was merged into another
                owners[folded(row.text)].add(row.term)
    labels: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    for term, rows in found.items():
        text = min(rows)[0]
        problem = problem_of(term, rows, terms) or (
            "the label of several terms" if len(owners[folded(text)]) > 1 else ""
        )
        if problem:
            left_out[problem] += 1
        else:
            labels[term] = text
    return labels, left_out


def problem_of(term: str, rows: set[tuple[str, str]], terms: Terms) -> str:
    """Return why the labels of a term, each with the English one that it was made from, make no case; or nothing."""
    texts, sources = {text for text, _ in rows}, {source for _, source in rows}
    text, label = min(texts), terms.labels.get(term)
    reasons = {
        "no term of the release": label is None,
        "several official labels": len(texts) > 1,
        "made from another English label than that of the release": sources != {label},
        "equal to the English label": folded(text) == folded(label or ""),
        "irregular blanks": text != " ".join(text.split()),
        "quotation marks, which may be those of the table": '"' in text,
        "no phenotypic abnormality": term not in terms.domains,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def parallel(labels: Mapping[str, Mapping[str, str]], languages: Sequence[str], terms: Terms) -> list[Phrase]:
    """Return the English labels of the terms that have an official one in each language."""
    others = [labels[language] for language in languages if language != "en"]
    phrases = []
    for term in sorted(set.intersection(*map(set, others))):
        levels = [difficulty(own[term], [terms.labels[term]]) for own in others]
        text = terms.labels[term]
        phrases.append(
            Phrase(text, (term,), "exact_match", text, terms.domains[term], term, term, max(levels, key=LEVELS.index))
        )
    return phrases


def laypersons(table: Translations, terms: Terms) -> tuple[list[Phrase], Counter[str]]:
    """Return the layperson's terms that name one term alone, and how many were left out, by the reason."""
    owners: dict[str, set[str]] = defaultdict(set)
    own = {(row.term, row.text) for row in table.rows if row.kind == "layperson"}
    for term, text in own:
        owners[folded(text)].add(term)
    phrases, left_out = [], Counter[str]()
    for term, text in sorted(own):
        if term not in terms.domains:
            left_out["no phenotypic abnormality of the release"] += 1
        elif len(owners[folded(text)]) > 1:
            left_out["a name of several terms"] += 1
        elif '"' in text or text != " ".join(text.split()):
            left_out["irregular blanks or quotation marks"] += 1
        else:
            label = terms.labels[term]
            phrases.append(Phrase(text, (term,), "layperson", f'layperson\'s term of "{label}"', terms.domains[term]))
    return phrases, left_out


def chance(*parts: str) -> str:
    """Return a number that depends on the seed and on what is drawn, and on nothing else, in hexadecimal."""
    return hashlib.sha256("\0".join((SEED, *parts)).encode()).hexdigest()


def drawn(phrases: Iterable[Phrase], strata: Sequence[str], n: int, before: Sequence[Phrase] = ()) -> list[Phrase]:
    """Draw phrases until there are n, each from the strata with the fewest so far, and none of a term that was drawn.

    Parameters
    ----------
    phrases : iterable of Phrase
    strata : sequence of str
        Two or more fields of a phrase; the first is balanced first.
    n : int
    before : sequence of Phrase
        Those drawn already: the result begins with them.
    """
    cell_of = attrgetter(*strata)
    waiting: dict[tuple[str, ...], list[Phrase]] = defaultdict(list)
    for phrase in sorted(phrases, key=lambda phrase: (chance(*phrase.ids), chance(phrase.text)), reverse=True):
        waiting[cell_of(phrase)].append(phrase)
    taken = list(before)
    used = {term for phrase in taken for term in phrase.ids}
    counts = Counter(part for phrase in taken for part in cell_of(phrase))
    while waiting and len(taken) < n:
        cell = min(waiting, key=lambda cell: (*(counts[part] for part in cell), chance(*cell)))
        phrase = waiting[cell].pop()
        if not waiting[cell]:
            del waiting[cell]
        if used.isdisjoint(phrase.ids):
            taken.append(phrase)
            counts.update(cell)
            used.update(phrase.ids)
    return taken


def document(
    dataset_id: str,
    language: str,
    cases: list[dict[str, Any]],
    version: str,
    *,
    about: str,
    category: str,
    languages: Sequence[str] = (),
) -> dict[str, Any]:
    """Return a file in the schema that `deadheat.read_cases` reads, which says what it is."""
    return {
        "metadata": {
            "dataset_id": dataset_id,
            "version": "1",
            "language": language,
            **({"languages": list(languages)} if languages else {}),
            "description": about,
            "difficulty": DIFFICULTY,
            "category": category,
            "domain": DOMAIN,
            "ontology": f"hp/releases/{version}",
            "acknowledgement": ACKNOWLEDGEMENT.format(version=version),
            "source": SOURCE,
        },
        "test_cases": cases,
    }


def written(phrases: Iterable[Phrase], language: str, terms: Terms) -> list[dict[str, Any]]:
    """Return the cases of a file; those without an id are numbered as they were drawn."""
    return [
        {
            "case_id": phrase.case_id or f"{language}-{place:04d}",
            **({"pair_id": phrase.pair_id} if phrase.pair_id else {}),
            "text": phrase.text,
            "description": phrase.description,
            "expected_hpo_ids": list(phrase.ids),
            "difficulty": difficulty(phrase.text, [terms.labels[term] for term in phrase.ids]),
            "category": phrase.category,
            "hpo_domain": phrase.domain,
        }
        for place, phrase in enumerate(phrases, start=1)
    ]


def write(file: Path, value: dict[str, Any]) -> None:
    """Write a file, the same on every system."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


def build(data: Path, output: Path) -> list[str]:
    """Write every file, and return what was left out.

    `data` has ``ontology/*.obo.gz``, ``benchmarks/*.json`` and ``translations/hp-*.tsv.gz``.
    """
    (path,) = (data / "ontology").glob("*.obo.gz")
    ontology = read_ontology(path)
    version = (ontology.version or "").removeprefix("hp/releases/")
    terms = Terms(ontology)
    most = max(SIZES.values())
    phrases, left_out = german(data / "benchmarks", terms)
    translated = [phrase for phrase in phrases if not phrase.case_id.startswith(NEAR)]
    standard = drawn(translated, ("domain", "category"), SIZES["standard"])
    languages = {
        ("english", "en"): drawn(english(terms), ("category", "domain"), most),
        ("german", "de"): drawn(phrases, ("domain", "category"), most, before=standard),
    }
    n_further = len(phrases) - len(languages["german", "de"])
    left_out.append(f"{n_further} further texts of terms that another case expects")
    for (folder, language), chosen in languages.items():
        cases = written(chosen, language, terms)
        for name, size in SIZES.items():
            value = document(
                f"hpo-{language}-{name}-v1",
                language,
                cases[:size],
                version,
                about=ABOUT[language],
                category=CATEGORY[language],
            )
            write(output / folder / f"{name}_v1.json", value)
    return left_out + build_translated(data / "translations", output, terms, version)


def build_translated(data: Path, output: Path, terms: Terms, version: str) -> list[str]:
    """Write the files of translated names, and return what was left out."""
    tables = {table.language: table for table in map(read_translations, sorted(data.glob("hp-*.tsv.gz")))}
    labels: dict[str, dict[str, str]] = {"en": terms.labels}
    said = []
    for language, table in tables.items():
        labels[language], left_out = official(table, terms)
        said += [f"{language}, official labels: {n} {reason}" for reason, n in sorted(left_out.items())]
    most = max(SIZES.values())
    for folder, languages in PARALLEL.items():
        chosen = drawn(parallel(labels, languages, terms), ("hardest", "domain"), most)
        for language in languages:
            own = [phrase._replace(text=labels[language][phrase.ids[0]]) for phrase in chosen]
            sizes = {"comprehensive": most} if folder in ALL_OF else SIZES
            for name, size in sizes.items():
                cases, dataset_id = written(own[:size], language, terms), f"hpo-{folder}-{name}-v1"
                write(
                    output / folder / language / f"{name}_v1.json",
                    of_translation(
                        "parallel", dataset_id, language=language, cases=cases, version=version, languages=languages
                    ),
                )
    for folder, language in MONOLINGUAL.items():
        own = [phrase._replace(case_id="", pair_id="") for phrase in parallel(labels, ("en", language), terms)]
        own = [phrase._replace(text=labels[language][phrase.ids[0]]) for phrase in own]
        cases = written(drawn(own, ("hardest", "domain"), most), language, terms)
        write_alone(output / folder, "label", f"hpo-{language}", language=language, cases=cases, version=version)
    folder, language = LAYPERSON
    names, left_out = laypersons(tables[language], terms)
    chosen = drawn(names, ("domain", "category"), most)
    said += [f"{language}, layperson's terms: {n} {reason}" for reason, n in sorted(left_out.items())]
    said.append(f"{language}, layperson's terms: {len(names) - len(chosen)} further ones of a term that has a case")
    cases = written(chosen, language, terms)
    dataset_id = f"hpo-{language}-layperson"
    write_alone(output / folder, "layperson", dataset_id, language=language, cases=cases, version=version)
    return said


def write_alone(
    folder: Path, kind: str, dataset_id: str, *, language: str, cases: list[dict[str, Any]], version: str
) -> None:
    """Write the files of a set in one language."""
    for name, size in SIZES.items():
        value = of_translation(kind, f"{dataset_id}-{name}-v1", language=language, cases=cases[:size], version=version)
        write(folder / f"{name}_v1.json", value)


def of_translation(
    kind: str,
    dataset_id: str,
    *,
    language: str,
    cases: list[dict[str, Any]],
    version: str,
    languages: Sequence[str] = (),
) -> dict[str, Any]:
    """Return a file of translated names."""
    about = OF_TRANSLATIONS[kind].format(language=LANGUAGES[language])
    return document(dataset_id, language, cases, version, about=about, category=OF_NAMES[kind], languages=languages)


def main() -> int:
    """Build the files and say what was left out."""
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description="Build the case files of datasets/hpo.")
    parser.add_argument("data", type=Path, help="the folder with ontology/ and benchmarks/: ../shared/data/hpo")
    parser.add_argument("--output", type=Path, default=here / "hpo", help="the folder for the files (datasets/hpo)")
    chosen = parser.parse_args()
    left_out = build(chosen.data, chosen.output)
    print("Left out:", *left_out, sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
