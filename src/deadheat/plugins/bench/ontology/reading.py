"""How an ontology is read from its files: OBO, OBO Graphs JSON, or OWL."""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from deadheat.core.errors import DeadheatWarning, DuplicateError, FileFormatError
from deadheat.core.io.files import check_readable, decode_utf8, read_all
from deadheat.core.io.objects import parse_json as parsed_json
from deadheat.core.libraries import import_package
from deadheat.core.wording import format_list
from deadheat.plugins.bench.ontology.names import SCOPES, Synonym
from deadheat.plugins.bench.ontology.ontology import Ontology

if TYPE_CHECKING:
    from pronto.ontology import Ontology as Parsed
    from pronto.term import Term

_SKIPPED = re.compile(rb"^(?:!.*|[ \t\r]*)\n", re.MULTILINE)  # lines of OBO that say nothing
_PER_BYTE = 60  # bytes of memory; measured 57 with short names
STANZA = re.compile(rb"^(?:\[(\w+)\]|id:[ \t]*(\S+))", re.MULTILINE)  # how one of OBO begins, and its id
FORMATS = "expected OBO, OBO Graphs JSON or OWL in RDF/XML, in UTF-8, plain or .gz"


def read_ontology(path: str | os.PathLike[str]) -> Ontology:
    """Read an ontology: its terms that are not obsolete, with their is_a relations.

    Parameters
    ----------
    path : path
        OBO, OBO Graphs JSON, or OWL in RDF/XML, in UTF-8; plain or compressed (``.gz``). Imports that the file names
        are not followed. Synonym types are not read from JSON. Needs ``deadheat[ontology]``.

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
    file = check_readable(path)
    content = read_all(file, per_byte=_PER_BYTE)
    graphs = _graphs(content, file) if content.lstrip().startswith(b"{") else None
    parsed = _parse(content, file)
    described = _stanzas(content) if graphs is None else ((node["id"], None) for node in graphs[0].get("nodes") or ())
    seen: dict[object, int | None] = {}
    for term, line in described:  # pronto merges two descriptions of a term, and of two names keeps the last
        if term in seen:
            both = f" (lines {seen[term]} and {line})" if line else ""
            raise DuplicateError(f"term {term!r} is described twice{both}", allowed="once", path=file, line=line)
        seen[term] = line
    terms = list(parsed.terms())
    live = [term for term in terms if not term.obsolete]
    return Ontology.from_parents(
        _parents(live, file),
        labels={term.id: term.name or "" for term in live},
        synonyms={term.id: _synonyms(term, file) for term in live},
        obsolete={term.id: _instead(term) for term in terms if term.obsolete},
        alternatives=_alternatives(live, file),
        version=parsed.metadata.data_version,
        path=file,
    )


def _graphs(content: bytes, path: Path) -> list[Any]:
    """Return the graphs of JSON, on most other of which the parser would panic; warn of what is not read."""
    graphs: object = parsed_json(decode_utf8(content, path), path).get("graphs")
    if not isinstance(graphs, list) or not graphs:
        raise FileFormatError(f"JSON without a list of 'graphs'; {FORMATS}", path=path)
    if b'"synonymType"' in content:
        warnings.warn(
            f"{path}: the types of synonyms (layperson, abbreviation, ...) are not read from OBO Graphs JSON;"
            " read the OBO or OWL file for them",
            DeadheatWarning,
            stacklevel=3,
        )
    return graphs


def _parse(content: bytes, path: Path) -> Parsed:
    """Let pronto read a file's content; its warnings are about parts of OWL that are not used here.

    Comments and blank lines are left out: pronto takes 80 times their size for comments, and panics on many.
    """
    is_obo = not content.lstrip().startswith((b"{", b"<"))
    parsed = _SKIPPED.sub(b"", content) if is_obo else content
    pronto = import_package("pronto.ontology", "reading an ontology needs the package pronto", "ontology")
    try:
        with warnings.catch_warnings(action="ignore"):
            return cast("Parsed", pronto.Ontology(io.BytesIO(parsed), import_depth=0, encoding="utf-8"))
    except KeyError as error:
        raise FileFormatError(
            f"a term refers to {error} as its parent, which is not a term of the file", path=path
        ) from error
    except BaseException as error:  # the parsers behind pronto raise anything, one of them a Rust panic
        if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit | MemoryError):
            raise
        line = cast("int | None", getattr(error, "lineno", None))
        if line is not None and is_obo:
            line = _line_in(content, line)
        reason = error.msg if isinstance(error, SyntaxError) else error
        raise FileFormatError(f"{FORMATS}; pronto cannot read it: {reason}", path=path, line=line) from error


def _line_in(content: bytes, number: int) -> int | None:
    """Return the line of a content that is the given one among those that are not left out."""
    n_kept = 0
    for line, text in enumerate(content.split(b"\n"), 1):
        n_kept += _SKIPPED.match(text + b"\n") is None
        if n_kept == number:
            return line
    return None


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


def _parents(terms: Sequence[Term], path: Path) -> dict[str, list[str]]:
    """Return the direct is_a parents that are not obsolete, by term."""
    parents: dict[str, list[str]] = {}
    obsolete: list[str] = []
    for term in terms:
        if term.id in term._ontology()._terms.lineage[term.id].sup:  # noqa: SLF001 - superclasses() leaves it out
            raise FileFormatError(f"{term.id!r} is its own parent (is_a)", allowed="a graph without cycles", path=path)
        direct = list(term.superclasses(distance=1, with_self=False))
        parents[term.id] = [parent.id for parent in direct if not parent.obsolete]
        obsolete += [f"{term.id} is_a {parent.id}" for parent in direct if parent.obsolete]
    if obsolete:
        warnings.warn(
            f"{path}: {len(obsolete):,} is_a relations lead to an obsolete parent and are left out:"
            f" {format_list(obsolete)}",
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
