"""Which measures suit a use, and how to read their values.

It follows the project's sources 3 (choice of k), 4 (scenarios) and 5 (uses, readings, targets). Where these are wrong,
it differs, and the notes say so. The targets are those of these authors for question answering, not laws.
"""

import re
from dataclasses import dataclass

from deadheat.core.errors import ParameterError
from deadheat.core.wording import did_you_mean, join_sentences


@dataclass(frozen=True)
class Use:
    """A use and the measures for it.

    Attributes
    ----------
    key : str
        What ``deadheat measures --for`` takes.
    title : str
    measures : tuple of str
        In the notation, the first one first.
    why : str
    """

    key: str
    title: str
    measures: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Interpretation:
    """How to read the values of a measure.

    Attributes
    ----------
    bands : tuple of (str, str)
        A value, and what it says.
    targets : tuple of (str, float)
        A measure in the notation, and the value to exceed.
    notes : tuple of str
        What to keep in mind.
    """

    bands: tuple[tuple[str, str], ...] = ()
    targets: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = ()


NUMBER_OF_RESULTS = re.compile("k?=?(-?[0-9]{1,15})")

ADVICE = (
    Use(
        "top1",
        "only the first result is used",
        ("RR", "Hit@1"),
        "only the first relevant result counts, and how soon it comes",
    ),
    Use(
        "top3",
        "the first three results are used",
        ("P@3", "nDCG@3"),
        "the quality of the top 3 counts, and their order",
    ),
    Use(
        "several",
        "several relevant documents are needed",
        ("R@10", "AP"),
        "none may be missed; AP also sees their order",
    ),
    Use(
        "graded",
        "relevance has more than two levels",
        ("nDCG@10",),
        "better documents should be ranked higher, at every rank",
    ),
    Use("sanity", "a quick sanity check", ("Hit@10",), "is there anything relevant at all?"),
    Use(
        "ab-test",
        "an A/B test of two systems",
        ("RR", "nDCG@5"),
        "one sees the first hit, the other the quality of the top",
    ),
    Use(
        "voice",
        "voice assistants: one to three answers",
        ("Hit@1", "RR@3"),
        "patience ends after one spoken answer, a small screen shows three",
    ),
    Use(
        "ads",
        "sponsored results: two or three places",
        ("P@3", "nDCG@3"),
        "every place is paid for, and the first ones at a premium",
    ),
    Use(
        "mobile",
        "mobile search: what fits without scrolling",
        ("Hit@5", "RR@5", "nDCG@5"),
        "people choose among the first few results",
    ),
    Use(
        "fact",
        "questions with one right answer",
        ("RR", "Hit@1", "FRP@10"),
        "the one answer should come soon; FRP tells it as a rank, which anyone can read",
    ),
    Use(
        "snippet",
        "a featured snippet: one result is shown",
        ("nDCG@1", "Hit@1"),
        "the one shown must be the most relevant one (nDCG@1), or at least relevant (Hit@1)",
    ),
    Use(
        "autocomplete",
        "autocomplete: four or five suggestions",
        ("RR@5", "Hit@2", "Hit@5"),
        "five are shown, but the first one or two are chosen",
    ),
    Use(
        "search",
        "web, shop or site search: people scan the first page",
        ("nDCG@10", "RR", "P@5"),
        "graded judgments are usual, and the top counts most; RR says how soon the first useful result comes",
    ),
    Use(
        "judge",
        "labels of a language model, in few grades that are often too high",
        ("nDCG@10", "P(rel=2)@10"),
        "grades that are off by one change nDCG little, and a higher level of relevance takes off inflation;"
        " deadheat judges says what the labels do to a comparison",
    ),
    Use(
        "rag",
        "retrieval for a language model that reads the first k",
        ("R@5", "Hit@5", "nDCG@5"),
        "what is not retrieved cannot be used; the order inside the context counts less. Take k as many as are read",
    ),
    Use(
        "multi-hop",
        "questions whose answer needs several passages together",
        ("R@10", "AP"),
        "one passage that lacks can spoil the answer, so R counts, at as many as are read; only queries with R = 1"
        " have all of them (--per-query)",
    ),
    Use(
        "production",
        "a system that is watched from day to day",
        ("RR", "Hit@10", "nDCG@10"),
        "the same lists must give the same values: with ties exact (the default) no order of equal scores moves"
        " them. Set limits with deadheat gate",
    ),
    Use(
        "reranker",
        "a reranker of another system's candidates",
        ("nDCG@10", "RR", "AP"),
        "the candidates are given, so only their order can be better; LLM rerankers tie often: mind the spread",
    ),
    Use(
        "recommender",
        "recommended items: a short list for each user",
        ("nDCG@10", "Hit@10", "R@20"),
        "one held-out item a user: Hit and nDCG; several: R, too. Score all items, as samples of them change the order",
    ),
    Use(
        "qa",
        "passages that answer a question",
        ("RR@10", "Hit@1", "R@20"),
        "one good passage suffices, the sooner the better; R at the depth that a reader or reranker gets",
    ),
    Use(
        "hpo",
        "phrases to terms of an ontology, such as HPO",
        ("Hit@1", "RR", "MaxRel@10"),
        "one term is right, so the first one counts; MaxRel, with dh.read_ontology(...).judge, credits near misses",
    ),
    Use("k=1", "the quality of the first result", ("P@1", "RR@1"), "people often look at the first result only"),
    Use("k=3", "a quick scan", ("P@3", "nDCG@3"), "a typical span of attention"),
    Use("k=5", "the standard", ("nDCG@5", "R@5"), "balances depth and efficiency"),
    Use("k=10", "comprehensive", ("nDCG@10", "R@10"), "what most benchmarks report (MTEB)"),
    Use("k=20", "a deep dive", ("nDCG@20", "R@20"), "for thorough evaluation"),
)
USES = {use.key: use for use in ADVICE}

READINGS: dict[str, Interpretation] = {
    "P": Interpretation(
        (("P@3 = 1.0", "all of the top 3 are relevant"), ("P@5 = 0.6", "3 of 5"), ("P@10 = 0.3", "3 of 10: poor")),
        (("P@3", 0.80), ("P@5", 0.70), ("P@10", 0.60)),
        (
            "Blind to the order within the top k.",
            "A query with fewer than k relevant documents cannot reach 1: compare with R / k first.",
        ),
    ),
    "R": Interpretation(
        (
            ("R@10 = 1.0", "everything relevant is in the top 10"),
            ("R@5 = 0.6", "60% of it is in the top 5"),
            ("R@3 = 0.33", "a third of it is in the top 3"),
        ),
        (("R@5", 0.70), ("R@10", 0.90), ("R@20", 0.95)),
        (
            "For few relevant documents, and where several are needed together; it says little where one suffices.",
            "A query with more than k relevant documents cannot reach 1: the highest value is k / R.",
        ),
    ),
    "F": Interpretation(
        targets=(("F@5", 0.70),),
        notes=(
            "Balances precision and recall, and is low when either is; of no use where one of them matters far more.",
        ),
    ),
    "RR": Interpretation(
        (
            ("RR = 1.0", "the first result is always relevant"),
            ("RR = 0.5", "rank 2, in the harmonic mean"),
            ("RR = 0.33", "rank 3, in the harmonic mean"),
            ("RR = 0.1", "rank 10, in the harmonic mean: poor"),
        ),
        (("RR", 0.80),),
        (
            "1 / RR is the harmonic mean of the first relevant ranks; a late one can make their average far larger.",
            "Above 0.8, at least 60% of the queries have a relevant document first, and 70% in the top two.",
            "Above 0.9, at least 80% have it first.",
        ),
    ),
    "AP": Interpretation(
        notes=("Sees the order and the number of the relevant documents; a standard in research on retrieval.",)
    ),
    "AR": Interpretation(
        notes=(
            'With norm="retrieved_all" it is (R + 1) / 2R for every ranking that retrieves all R relevant documents.',
        )
    ),
    "nDCG": Interpretation(
        (
            ("nDCG@5 = 1.0", "a perfect ranking"),
            ("nDCG@5 = 0.9", "very good, small errors"),
            ("nDCG@5 = 0.7", "fair: some relevant documents are ranked too low"),
            ("nDCG@5 = 0.5", "poor"),
        ),
        (("nDCG(gain='exp')@5", 0.85), ("nDCG(gain='exp')@10", 0.80)),
        (
            "The targets are for the gain 2^rel - 1; the default gain here is rel, as in trec_eval.",
            '0.5 is not "random": what a random order scores depends on the data.',
            "For that value, give all documents the same score and read the exact mean.",
            "The base of the logarithm changes nothing: it is a common factor.",
        ),
    ),
    "ERR": Interpretation(
        notes=("Models a user who goes down the list and stops, the sooner the more relevant the documents are.",)
    ),
    "Hit": Interpretation(
        targets=(("Hit@10", 0.95),),
        notes=("The least that can be asked: is anything relevant in the top k?",),
    ),
    "MR": Interpretation(notes=("Easy to explain, but a few queries with late documents skew it: MR@k bounds that.",)),
    "FRP": Interpretation(
        notes=("Easy to explain, but a few queries with late documents skew it: FRP@k bounds that.",)
    ),
}


def recommend(use: str) -> Use:
    """Return which measures suit a use.

    Parameters
    ----------
    use : str
        A key of `USES`; a number of results counts as ``k=``, and the nearest one that there is advice for is taken.

    Raises
    ------
    ParameterError
        The use is not known; the message lists all and names the nearest.

    Examples
    --------
    >>> recommend("top3").measures
    ('P@3', 'nDCG@3')
    >>> recommend("10").title, recommend("k=7").key
    ('comprehensive', 'k=5')
    """
    key = use.strip().casefold().replace("_", "-").replace(" ", "-").replace("@", "=")
    if key in USES:
        return USES[key]
    match = NUMBER_OF_RESULTS.fullmatch(key)
    if match is None:
        hint = join_sentences(did_you_mean(key, USES), f"Uses: {', '.join(USES)}")
        raise ParameterError(f"no advice for the use {use!r}", hint=hint)
    k = int(match[1])
    if k < 1:
        raise ParameterError("k is a number of results, a whole number from 1 on", given=k)
    return USES[f"k={_nearest_number(k)}"]


def _nearest_number(k: int) -> int:
    """Return the number of results with advice that is nearest to k: by which it is multiplied or divided least."""
    numbers = [int(key.removeprefix("k=")) for key in USES if key.startswith("k=")]

    def ratio(number: int) -> float:
        return max(number / k, k / number)

    return min(numbers, key=ratio)


def reading(measure: str) -> Interpretation:
    """Return how to read a measure, by its name in the registry; an empty reading if nothing is known.

    Examples
    --------
    >>> reading("Hit").targets
    (('Hit@10', 0.95),)
    """
    return READINGS.get(measure, Interpretation())
