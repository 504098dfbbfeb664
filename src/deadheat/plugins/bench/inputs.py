"""What a benchmark is made of: retrievers, cases and documents, checked and read before anything is searched."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any, cast

from deadheat.core.errors import NoteWarning, ParameterError, SourceTypeError
from deadheat.core.evaluation.stratum import NONE
from deadheat.core.measures import Measure
from deadheat.core.phases import phase
from deadheat.plugins.bench.case_groups import CaseGroup
from deadheat.plugins.bench.collection import Collection, read_collection
from deadheat.plugins.bench.languages import checked_code, likely
from deadheat.plugins.bench.ontology import Ontology, read_ontology
from deadheat.plugins.bench.retrievers import System
from deadheat.plugins.more_measures.largest import MaxRel

Tell = Callable[[str], None]  # is called with a line of text for each step


@dataclass(frozen=True, kw_only=True)
class BenchInputs:
    """What a benchmark is made of.

    Attributes
    ----------
    systems : mapping of str to System
        Retrievers, alone and with each reranker.
    parts : tuple of CaseGroup
        The cases of each set and language.
    documents : Collection
    ontology : Ontology or None
    kind : str
        Of similarity.
    measures : tuple of Measure
    k : int
        How many documents are asked for.
    """

    systems: Mapping[str, System]
    parts: tuple[CaseGroup, ...]
    documents: Collection
    ontology: Ontology | None
    kind: str
    measures: tuple[Measure, ...]
    k: int

    @property
    def graded_measures(self) -> tuple[Measure, ...]:
        """The measures that take their judgments from the ontology."""
        if self.ontology is None:
            return ()
        return tuple(measure for measure in self.measures if isinstance(measure, MaxRel))


def read_documents(
    collection: Collection | str | Path,
    ontology: Ontology | str | Path | None,
    tell: Tell,
    **options: Any,  # noqa: ANN401 - of read_collection
) -> tuple[Collection, Ontology | None]:
    """Read the documents and the ontology, which may be one file."""
    if options["language"] is not None:
        checked_code("collection_language", options["language"])
    if not isinstance(cast("object", collection), Collection | Ontology | str | Path):
        raise SourceTypeError(argument="collection", found=type(collection).__name__, allowed="a Collection or a path")
    if isinstance(collection, Collection):
        _refuse_options_of_reading(options)
    paths = [str(source) for source in (ontology, collection) if isinstance(source, str | Path)]
    for path in dict.fromkeys(paths):
        tell(f"reading {path}")
    if ontology is None or isinstance(ontology, Ontology):
        terms = ontology
    else:
        with phase(f"reading {Path(ontology).name}"):
            terms = read_ontology(ontology)
    if isinstance(collection, Collection):
        return collection, terms
    source = terms if terms is not None and str(collection) == str(ontology) else collection
    with (
        phase("reading the collection"),
        warnings.catch_warnings(action="ignore", category=NoteWarning),  # they are notes of the report
    ):
        return read_collection(source, **options), terms


def _refuse_options_of_reading(options: Mapping[str, Any]) -> None:
    """Raise `ParameterError` if an option of :func:`read_collection` is given beside a collection that was read."""
    defaults = signature(read_collection).parameters
    for name, value in options.items():
        if value not in (defaults[name].default, []):
            raise ParameterError(
                f"{name}={value!r} is only for a collection that is read here",
                found="a Collection",
                hint="give its path",
            )


def languages_of_documents(documents: Collection, parts: Sequence[CaseGroup]) -> tuple[tuple[str, ...], bool]:
    """Return the languages of documents, and whether they are a guess: made only if cases have a language at all."""
    if documents.languages or all(part.language == NONE for part in parts):
        return documents.languages, False
    language = likely(documents.texts)
    if language is None:
        return (), False
    return (language,), True
