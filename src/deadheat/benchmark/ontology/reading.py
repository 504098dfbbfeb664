"""Reading ontologies by pronto: OBO, OBO Graphs JSON and OWL."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from deadheat.benchmark.ontology.names import SCOPES, Synonym
from deadheat.benchmark.ontology.ontology import Ontology
from deadheat.errors import DeadheatWarning, DuplicateError, FileFormatError, package, three
from deadheat.io.objects import parsed as parsed_json
from deadheat.io.source import decoded, read_all, readable

if TYPE_CHECKING:
    from pronto.ontology import Ontology as Parsed
    from pronto.term import Term

STANZA = re.compile(rb"^(?:\[(\w+)\]|id:[ \t]*(\S+))", re.MULTILINE)  # how one of OBO begins, and its id
FORMATS = "expected OBO, OBO Graphs JSON or OWL in RDF/XML, in UTF-8, plain or .gz"


def read_ontology(path: str | os.PathLike[str], *, prefix: str | None = None) -> Ontology:
    """Read an ontology: its terms that are not obsolete, with their is_a relations.

    Parameters
    ----------
    path : path
        OBO, OBO Graphs JSON, or OWL in RDF/XML, in UTF-8; plain or compressed (``.gz``). Imports that the file names
        are not followed. Synonym types are not read from JSON. Needs ``deadheat[ontology]``.
    prefix : str, optional
        Keep only terms whose id has this prefix, such as ``"HP:"``, where a file carries terms of other ontologies;
        parents among the others are left out.

    Returns
    -------
    Ontology

    Raises
    ------
    MissingDependencyError
        The package pronto is not installed.
    DataError
        No such file, an unknown format, no terms, a term or an alternative id that is there twice (in OWL, descriptions
        of one term add up), a parent that is not a term, or a cycle.

    Warns
    -----
    DeadheatWarning
        Relations to obsolete parents are left out. Synonym types in JSON are not read.
    """
    file = readable(path)
    content = read_all(file)
    graphs = _graphs(content, file) if content.lstrip().startswith(b"{") else None
    parsed = _parse(file)
    described = _stanzas(content) if graphs is None else ((node["id"], None) for node in graphs[0].get("nodes") or ())
    seen: dict[object, int | None] = {}
    for term, line in described:  # pronto merges two descriptions of a term, and of two names keeps the last
        if term in seen:
            first = f" (lines {seen[term]} and {line})" if line else ""
            raise DuplicateError(f"term {term!r} is described twice{first}", allowed="once", path=file, line=line)
        seen[term] = line
    terms = [term for term in parsed.terms() if prefix is None or term.id.startswith(prefix)]
    if prefix is not None and not terms:
        others = sorted(term.id for term in parsed.terms())
        raise FileFormatError(
            f"no id begins with prefix={prefix!r}; the file has {three([*map(repr, others)])}", path=file
        )
    live = [term for term in terms if not term.obsolete]
    return Ontology.from_parents(
        _parents(live, {term.id for term in terms}, file),
        labels={term.id: term.name or "" for term in live},
        synonyms={term.id: _synonyms(term, file) for term in live},
        obsolete={term.id: _instead(term) for term in terms if term.obsolete},
        alternatives=_alternatives(live, file),
        version=parsed.metadata.data_version,
        path=file,
    )


def _graphs(content: bytes, path: Path) -> list[Any]:
    """Return the graphs of JSON, on most other of which the parser would panic; warn of what is not read."""
    found = parsed_json(decoded(content, path), path)
    if "graphs" not in found:
        raise FileFormatError(f"JSON without 'graphs'; {FORMATS}", path=path)
    graphs: object = found["graphs"]
    if not isinstance(graphs, list) or not graphs:
        raise FileFormatError(f"JSON whose 'graphs' is empty; {FORMATS}", path=path)
    if b'"synonymType"' in content:
        warnings.warn(
            f"{path}: the types of synonyms (layperson, abbreviation, ...) are not read from OBO Graphs JSON;"
            " read the OBO or OWL file for them",
            DeadheatWarning,
            stacklevel=3,
        )
    return graphs


def _parse(path: Path) -> Parsed:
    """Let pronto read a file; its warnings are about parts of OWL that are not used here."""
    pronto = package("pronto.ontology", "reading an ontology needs the package pronto", "ontology")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return cast("Parsed", pronto.Ontology(path, import_depth=0, encoding="utf-8"))
    except KeyError as error:
        raise FileFormatError(
            f"a term refers to {error} as its parent, which is not a term of the file", path=path
        ) from error
    except BaseException as error:  # the parsers behind pronto raise anything, one of them a Rust panic
        if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit | MemoryError):
            raise
        raise FileFormatError(
            f"{FORMATS}; pronto cannot read it: {error}",
            path=path,
            line=cast("int | None", getattr(error, "lineno", None)),
        ) from error


def _stanzas(content: bytes) -> Iterator[tuple[str, int | None]]:
    """Yield the id of each term of OBO with its line; of another format nothing."""
    kind, line, at = b"", 1, 0
    for found in STANZA.finditer(content):
        line, at = line + content.count(b"\n", at, found.start()), found.start()
        if found[1] is not None:
            kind = found[1]
        elif kind == b"Term":
            yield found[2].decode("utf-8", "replace"), line
            kind = b""


def _alternatives(terms: Sequence[Term], path: Path) -> dict[str, str]:
    """Return the term of each alternative id."""
    found: dict[str, str] = {}
    for term in sorted(terms, key=attrgetter("id")):  # the parser has threads, and its order is that of their ends
        for other in sorted(term.alternate_ids):
            if found.setdefault(other, term.id) != term.id:
                raise DuplicateError(
                    f"{other!r} is an alternative id of {found[other]!r} and of {term.id!r}",
                    allowed="one term",
                    path=path,
                )
    return found


def _parents(terms: Sequence[Term], kept: set[str], path: Path) -> dict[str, list[str]]:
    """Return the direct is_a parents that are not obsolete and were kept, by term."""
    parents: dict[str, list[str]] = {}
    obsolete: list[str] = []
    for term in terms:
        if term.id in term._ontology()._terms.lineage[term.id].sup:  # noqa: SLF001 - superclasses() leaves it out
            raise FileFormatError(f"{term.id!r} is its own parent (is_a)", allowed="a graph without cycles", path=path)
        direct = [parent for parent in term.superclasses(distance=1, with_self=False) if parent.id in kept]
        parents[term.id] = [parent.id for parent in direct if not parent.obsolete]
        obsolete += [f"{term.id} is_a {parent.id}" for parent in direct if parent.obsolete]
    if obsolete:
        warnings.warn(
            f"{path}: {len(obsolete):,} is_a relations lead to an obsolete parent and are left out: {three(obsolete)}",
            DeadheatWarning,
            stacklevel=3,
        )
    return parents


def _synonyms(term: Term, path: Path) -> list[Synonym]:
    """Return the synonyms of a term; OWL names their types by IRIs, of which only the last part is kept."""
    try:
        return [
            Synonym(
                one.description,
                one.scope if one.scope in SCOPES else "RELATED",  # the default of the OBO format
                "" if one.type is None else one.type.id.rpartition("#")[2].rpartition("/")[2],
            )
            for one in term.synonyms
        ]
    except ValueError as error:  # pronto looks up their types only here
        raise FileFormatError(
            f"the synonyms of {term.id!r} cannot be read ({error}): a type needs a line synonymtypedef in the header",
            path=path,
        ) from error


def _instead(term: Term) -> tuple[str, ...]:
    """Return the ids that replace an obsolete term, then those to be considered; of JSON these are annotations."""
    considered = set(term.consider.ids) | {
        str(getattr(value, "resource", None) or getattr(value, "literal", ""))
        for value in term.annotations
        if value.property.endswith("#consider")
    }
    return (*sorted(term.replaced_by.ids), *sorted(considered - term.replaced_by.ids))
