"""Languages beside the systems of a comparison: found by the column ``pair_id`` of the table of queries."""

from dataclasses import dataclass

from deadheat.core.data.queries import Queries
from deadheat.core.report.model import Fact, Report, note_fact
from deadheat.plugins.compare.companions import Section
from deadheat.plugins.compare.comparison import Comparison
from deadheat.plugins.languages.across import Languages
from deadheat.plugins.languages.comparing import PAIR, languages_of_queries
from deadheat.plugins.languages.report import list_languages, tell_beside, tell_gaps, tell_languages, with_languages
from deadheat.plugins.languages.verdict import sentences_of_languages

N_OPEN = 2  # tables that are not folded: systems by languages, and differences


@dataclass(frozen=True)
class LanguagesBeside:
    """Languages that are compared beside systems, as `deadheat.plugins.compare.companions.Companion` has it.

    Attributes
    ----------
    subject : Languages
    """

    subject: Languages
    key = "languages"

    @property
    def name(self) -> str:
        """What the queries are called."""
        return self.subject.name

    @property
    def measure(self) -> str:
        """The first measure with means across languages; empty if none has any."""
        across = self.subject.across
        return across[0].measure if across else ""

    def extend(self, report: Report, margin: float | None, *, for_people: bool) -> Report:
        """Return the report of the comparison with tables, facts and verdict across languages."""
        return with_languages(report, self.subject, margin, for_people=for_people)

    def section(self, margin: float | None) -> Section:
        """Return the section of a page: verdict, tables, facts."""
        languages = self.subject
        return Section(
            heading="Languages",
            verdict=sentences_of_languages(languages, margin=margin),
            tables=list(list_languages(languages, languages.measures, margin=margin)),
            n_open=N_OPEN,
            facts=[*tell_languages(languages, margin=margin), *tell_beside(languages), *tell_gaps(languages)],
        )


def find(comparison: Comparison, queries: Queries) -> LanguagesBeside | None:
    """Return the languages of queries that share a pair_id; None where none can be compared."""
    languages = languages_of_queries(comparison, queries)
    return None if languages is None else LanguagesBeside(languages)


def tell_absent(comparison: Comparison, queries: Queries) -> list[Fact]:
    """Say why languages are not compared, where weights or a judge forbid it."""
    if PAIR not in queries.columns:
        return []
    facts = []
    if comparison.weights is not None:
        facts.append(note_fact("languages", "not compared by pairs of queries, each of which has two weights"))
    if comparison.by_judge:
        facts.append(note_fact("languages", "not compared by pairs of queries, of which a judge alone labelled many"))
    return facts
