"""Rerankers: documents graded anew by functions and by a language model behind a real server."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import deadheat as dh
from deadheat import Collection
from deadheat.core.io.grades import read_grade
from deadheat.errors import DataError, DeadheatWarning, NoteWarning, ParameterError
from deadheat.plugins.bench.cases import Case, Cases
from deadheat.plugins.bench.retrievers import BM25, LLM, Hits, Reranked, best, described, make_retriever, retrieve
from deadheat.plugins.bench.retrievers.reranking import CrossEncoder
from support.chat_server import ChatServer, chat_server, grade
from support.command import call, ok
from support.error_parts import raises_parts

TEXTS = ("mend a flat tyre", "pump up a tyre", "oil the chain", "clean the chain", "true a wheel", "a flat chain")
DOCUMENTS = Collection("help", tuple("ABCDEF"), TEXTS, (("puncture",), (), (), (), (), ()))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ChatServer]:
    monkeypatch.setenv("DEADHEAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr("deadheat.plugins.bench.retrievers.language_model.FIRST_WAIT", 0.01)
    with chat_server() as found:
        yield found


def first(texts: Sequence[str], k: int) -> list[dict[str, float]]:  # noqa: ARG001 - as every retriever
    """A retriever that scores A 5, B 4, C 3 and D, E, F 1."""
    return [{"A": 5, "B": 4, "C": 3, "D": 1, "E": 1, "F": 1} for _ in texts]


GRADES = {"A": 1, "B": 2, "C": 2, "D": 3, "E": 0, "F": 0}
NAMES = [*zip("ABCDEF", TEXTS, strict=True)]
CASES = Cases("help", {}, tuple(Case(f"c{doc}", text, (doc,), (1.0,)) for doc, text in NAMES))
OF_TEXT = dict(zip(("mend a flat tyre; puncture", *TEXTS[1:]), "ABCDEF", strict=True))


def graded(query: str, text: str) -> object:  # noqa: ARG001 - a reranker looks at both
    return GRADES[OF_TEXT[text]]


def run_of(retriever: Reranked, k: int = 10) -> list[tuple[str, float]]:
    found = retrieve(retriever.first, ["q"], ["flat tyre"], max(k, retriever.depth))
    graded, _ = retriever.regrade(found, ["q"], ["flat tyre"], DOCUMENTS)
    return [(doc, score) for _, doc, score in best(graded, ["q"], k).rows()]


def per_pair(pairs: Sequence[tuple[str, str]]) -> list[object]:
    return [graded(*pair) for pair in pairs]


@pytest.mark.parametrize(
    ("depth", "then_by_first", "order"),
    [
        (3, False, ["BC", "A", "DEF"]),
        (3, True, ["B", "C", "A", "DEF"]),
        (2, False, ["B", "A", "C", "DEF"]),
        (4, False, ["D", "BC", "A", "EF"]),  # with all that tie with the fourth
        (6, True, ["D", "B", "C", "A", "EF"]),
    ],
)
def test_the_first_documents_are_in_the_order_of_their_grades(
    depth: int, order: list[str], *, then_by_first: bool
) -> None:
    retriever = Reranked(make_retriever(first), per_pair, "grades", depth=depth, then_by_first=then_by_first)
    found = run_of(retriever)
    scores = sorted({score for _, score in found}, reverse=True)
    assert ["".join(sorted(doc for doc, score in found if score == one)) for one in scores] == order
    if not then_by_first:
        assert dict(found)["B"] == GRADES["B"]


def test_documents_without_a_grade_stand_below_the_others() -> None:
    def mostly(pairs: Sequence[tuple[str, str]]) -> list[object]:
        return ["I refuse" if OF_TEXT[text] in "BD" else graded(query, text) for query, text in pairs]

    found = run_of(Reranked(make_retriever(first), mostly, "mostly", depth=6))
    assert [doc for doc, _ in found[:2]] == ["C", "A"]
    assert [doc for doc, _ in found[-2:]] == ["B", "D"]
    with pytest.raises(ParameterError, match="must return 6 grades"):
        run_of(Reranked(make_retriever(first), lambda _: [], "none", depth=6))


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (3, 3.0),
        (2.5, 2.5),
        ("3", 3.0),
        (" 3.", 3.0),
        ("-1", -1.0),
        ("8/10", 8.0),
        ("8 out of 10", 8.0),
        ("Score: 2", 2.0),
        ("**Score:** 2/3", 2.0),
        ('{"score": 2, "why": "3 words"}', 2.0),
        ("The relevance is 1.5, as 3 words fit", None),
        ("Grade 2. I say again: grade 2.", 2.0),
        ("I would say 2", 2.0),
        ("2-3", None),
        ("between 1 and 3", None),
        ("score: 1, or score: 2", None),
        ("I can't help with that.", None),
        ("", None),
        (None, None),
        (True, None),
        (float("inf"), None),
        ("9" * 400, None),
        (10**400, None),
        ('{"score": 1' + "0" * 400 + "}", None),
        ('{"a":' * 20_000, None),
        ("score: this is a 2", 2.0),
        ("Score " + "this is " * 40 + "not a grade, 2x", None),  # no time for all ways to read it
        ("1" * 20_000 + "..1", None),
        ("x" + " " * 20_000 + "x", None),
    ],
)
def test_grades_in_answers(answer: object, value: float | None) -> None:
    assert read_grade(answer).value == value


def test_a_language_model_behind_a_server_that_misbehaves(server: ChatServer) -> None:
    server.faults = {0: "429", 2: "500", 3: "cut", 5: "html", 7: "words"}
    model = LLM(server.url, "small", parallel=3)
    pairs = [(f"how to {text}", text) for text in TEXTS]
    answers = model(pairs)
    assert len(server.bodies) == len(pairs) + 4
    assert set(server.asked) == set(pairs)
    assert server.most <= 3
    words = server.asked.total() - len(pairs)
    assert words == 0
    right = [grade(*pair) for pair in pairs]
    assert sum(read_grade(one).value == grade for one, grade in zip(answers, right, strict=True)) >= len(pairs) - 1
    assert {body["model"] for body in server.bodies} == {"small"}
    assert all(body["temperature"] == 0 for body in server.bodies)
    before = len(server.bodies)
    assert LLM(server.url, "small")(pairs) == answers  # kept
    assert len(server.bodies) == before
    assert LLM(server.url, "other")(pairs[:1]) == [str(right[0])]
    assert len(server.bodies) == before + 1


def test_a_key_is_sent_and_a_refusal_says_which_variable(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.key = "secret"
    with pytest.raises(DataError, match=r"401.*OPENAI_API_KEY is not"):
        LLM(server.url, "m")([("q", "d")])
    monkeypatch.setenv("MY_KEY", "wrong")
    with pytest.raises(DataError, match="MY_KEY holds another key"):
        LLM(server.url, "m", api_key_env="MY_KEY")([("q", "d")])
    monkeypatch.setenv("MY_KEY", "secret")
    assert LLM(server.url, "m", api_key_env="MY_KEY")([("q", "a q")]) == ["1"]


def test_an_interrupted_call_goes_on_where_it_was(server: ChatServer) -> None:
    pairs = [(text, text) for text in TEXTS]
    server.stops_at = 3
    with pytest.raises(DataError, match=r" in 2 attempts.*503"):
        LLM(server.url, "m", parallel=1, attempts=2)(pairs)
    server.stops_at = 0
    n = len(server.bodies)
    assert LLM(server.url, "m")(pairs) == [str(grade(*pair)) for pair in pairs]
    assert len(server.bodies) == n + 3
    assert max(server.asked.values()) == 1
    kept = LLM(server.url, "m")._kept
    assert kept is not None
    kept.path.write_text(kept.path.read_text()[:-20])  # cut short by a crash
    with pytest.warns(DeadheatWarning, match="1 line beside 5 kept answers cannot be read"):
        assert LLM(server.url, "m")(pairs)[0] == str(grade(*pairs[0]))
    assert len(server.bodies) == n + 4


def test_a_message_that_is_null_is_no_answer(server: ChatServer) -> None:
    server.faults = {0: "null"}
    assert LLM(server.url, "m", parallel=1)([("q", "a q")]) == ["1"]
    server.faults = {2: "null", 3: "null"}
    with pytest.raises(DataError, match=r" in 2 attempts.*AttributeError"):
        LLM(server.url, "m", parallel=1, attempts=2, cache=False)([("q", "d")])


def test_an_endpoint_that_is_not_there_is_said(server: ChatServer) -> None:
    with pytest.raises(DataError, match=r":1/v1 in 2 attempts.*refused"):
        LLM("http://127.0.0.1:1/v1", "m", attempts=2, cache=False)([("q", "d")])
    with raises_parts(ParameterError, argument="endpoint", given="localhost"):
        LLM("localhost", "m")
    with raises_parts(ParameterError, argument="prompt", given="grade {query}"):
        LLM(server.url, "m", prompt="grade {query}")


def test_bench_compares_retrievers_with_and_without_a_reranker(server: ChatServer) -> None:
    asked: list[str] = []

    def confirmed(what: str) -> bool:
        asked.append(what)
        return len(asked) == 1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = dh.bench(
            CASES,
            DOCUMENTS,
            BM25(),
            "RR",
            rerankers=[dh.LLM(server.url, "small"), graded],
            rerank_depth=3,
            confirm=confirmed,
        )
    assert result.retrievers == ("bm25", "bm25 + small", "bm25 + graded")
    assert asked[0].startswith("18 calls of LLM(")
    assert described(Reranked(BM25(), per_pair, "x", depth=3, then_by_first=True)) == (
        "BM25, the first 3 graded by x, then by its scores"
    )
    with pytest.raises(ParameterError, match="the calls were not confirmed"):
        dh.bench(CASES, DOCUMENTS, rerankers=dh.LLM(server.url, "small"), confirm=confirmed)


@pytest.mark.slow
def test_the_command_says_how_often_it_calls_and_wants_a_yes(server: ChatServer, tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("".join(["text,expected_ids\n", *(f"{text},{doc}\n" for doc, text in NAMES)]))
    (tmp_path / "docs.csv").write_text("".join(["doc_id,text\n", *(f"{doc},{text}\n" for doc, text in NAMES)]))
    command = [
        "bench",
        tmp_path / "cases.csv",
        "--collection",
        tmp_path / "docs.csv",
        "-m",
        "RR",
        "--rerank-depth",
        "4",
    ]
    command += ["--reranker", "llm", "--endpoint", server.url, "--model", "small", "--output", tmp_path / "results"]
    refused = call(*command)
    assert refused.exit_code == 2
    assert "24 calls of LLM(" in refused.stderr
    assert "add --yes" in refused.stderr
    assert not server.bodies
    printed = ok(*command, "--yes")
    assert "bm25 + small" in printed
    n = len(server.bodies)
    assert n
    assert ok(*command, "--yes") == printed  # runs are finished, and answers kept
    assert len(server.bodies) == n
    assert "needs --reranker llm" in call(*command[:6], "--model", "small").stderr
    assert "--reranker llm needs --model" in call(*command[:6], "--reranker", "llm", "--endpoint", server.url).stderr


class Counted(BM25):
    """Counts how often it takes documents and searches."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[Collection] = []
        self.asked: list[int] = []

    def index(self, documents: Collection) -> None:
        self.taken.append(documents)
        super().index(documents)

    def search(self, texts: Sequence[str], k: int) -> Hits:
        self.asked.append(k)
        return super().search(texts, k)


@pytest.mark.parametrize(("depth", "asked"), [(3, [50]), (60, [50, 60])])
def test_a_retriever_takes_the_documents_and_searches_once_for_all_its_rerankers(depth: int, asked: list[int]) -> None:
    retriever, others = Counted(), {"one": graded, "two": graded}
    with warnings.catch_warnings(action="ignore"):
        result = dh.bench(CASES, DOCUMENTS, retriever, "RR", rerankers=others, rerank_depth=depth)
    assert result.retrievers == ("bm25", "bm25 + one", "bm25 + two")
    assert len(retriever.taken) == 1
    assert retriever.asked == asked  # deeper where more is graded than is kept


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_reranker_that_comes_later_goes_on_from_the_finished_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = dh.bench(CASES, DOCUMENTS, BM25(), "RR", rerankers=graded, rerank_depth=3)
    dh.bench(CASES, DOCUMENTS, BM25(), "RR", output=tmp_path)
    for name in ("index", "search"):
        monkeypatch.setattr(BM25, name, lambda *_: pytest.fail("the run is finished"))
    result = dh.bench(CASES, DOCUMENTS, BM25(), "RR", rerankers=graded, rerank_depth=3, output=tmp_path)
    for key, evaluation in fresh.evaluations.items():
        assert result.evaluations[key]["RR"].values.tolist() == evaluation["RR"].values.tolist()


def test_two_rerankers_or_systems_of_one_name_are_refused() -> None:
    for given in ([graded, graded], ["cross-encoder:a/x", "cross-encoder:b/x"], {1: graded, "1": graded}):
        with pytest.raises(ParameterError, match="two rerankers are named"):
            dh.bench(CASES, DOCUMENTS, rerankers=given)
    with pytest.raises(ParameterError, match=r"named 'bm25 \+ graded'"):
        dh.bench(CASES, DOCUMENTS, {"bm25": BM25(), "bm25 + graded": BM25()}, rerankers=graded)


@pytest.mark.filterwarnings("ignore")
def test_reranked_retrievers_have_the_names_that_the_user_gave() -> None:
    retrievers = {"x": BM25(), "y": BM25(k1=0.5, name="bm25")}
    answers = iter(["none", *"1" * 100])
    with pytest.warns(NoteWarning, match=r"x \+ <lambda> on help: no grade in 1 of"):
        result = dh.bench(CASES, DOCUMENTS, retrievers, "RR", rerankers=lambda *_: next(answers), rerank_depth=3)
    assert result.retrievers == ("x", "y", "x + <lambda>", "y + <lambda>")


def test_equal_texts_are_graded_once_and_on_one_scale() -> None:
    asked: list[tuple[str, str]] = []
    documents = Collection("twins", ("A", "B", "C"), ("a tyre", "a tyre", "a chain"), ((), (), ()))

    def answers(pairs: Sequence[tuple[str, str]]) -> list[object]:
        asked.extend(pairs)
        return [f"{len(asked)}/{10 * len(asked)}" for _ in pairs]

    retriever = Reranked(make_retriever(lambda texts, _: [{"A": 3, "B": 2, "C": 1}] * len(texts)), answers, "g")
    found = retrieve(retriever.first, ["q"], ["wheel"], 3)
    graded, _ = retriever.regrade(found, ["q"], ["wheel"], documents)
    assert asked == [("wheel", "a tyre"), ("wheel", "a chain")]
    assert graded["score"].to_list() == [2.0, 2.0, 2.0]
    retriever.grade = lambda pairs: ["8/10", "0.9/1"][: len(pairs)]
    with raises_parts(DataError, found="1 and 10", allowed="one"):
        retriever.regrade(found, ["q"], ["wheel"], documents)


def test_a_cross_encoder_in_a_folder_is_known_by_its_files(
    letters: type, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sentence_transformers.CrossEncoder", letters, raising=False)
    weights = tmp_path / "model" / "weights"
    weights.parent.mkdir()
    keys = []
    for content in ("old", "new", "old"):
        weights.write_text(content)
        keys.append(CrossEncoder(str(weights.parent)).key)
    assert keys[0] == keys[2] != keys[1]
    assert CrossEncoder("a/x").key == {"cross-encoder": "a/x", "sentence-transformers": "9"}
