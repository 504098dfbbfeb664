"""LETOR (SVMlight with query ids): what is read, by Polars and line by line, and what is wrong with a line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.api import blocks
from deadheat.core.io.formats import find_format
from deadheat.errors import ColumnError, DataError, DuplicateError, FileFormatError, MalformedRowError
from deadheat.plugins.columns import letor
from deadheat.plugins.columns.letor import is_letor, read_letor

TEXT = """# made by hand
2 qid:10 1:0.5 2:3 5:-1e-3 # docid = GX-1 inc = 1 prob = 0.5
0 qid:10 1:0.25 2:0 5:0 #docid=GX-2

1 qid:x 2:7 # docid = GX-1
"""


def written(folder: Path, text: str, name: str = "train.letor") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def both_ways(path: Path) -> letor.Letor:
    """Read a file by Polars and line by line, which must give the same."""
    found, text = read_letor(path), path.read_text(encoding="utf-8-sig")
    frame, lines, features = letor._read_lines(text, path, 1)
    slow = letor.Letor(path, frame, lines, [features], ())
    if frame["doc_id"].null_count() == 0:
        assert found.rows.equals(frame)
    assert found.lines.tolist() == lines.tolist()
    assert found.names == slow.names
    np.testing.assert_array_equal(found.matrix(found.names), slow.matrix(slow.names))
    return found


def test_lines_are_judged_documents_with_features(tmp_path: Path) -> None:
    found = both_ways(written(tmp_path, TEXT))
    assert found.rows.rows() == [("10", "GX-1", 2.0), ("10", "GX-2", 0.0), ("x", "GX-1", 1.0)]
    assert found.lines.tolist() == [2, 3, 5]
    assert found.names == ["1", "2", "5"]
    assert found.matrix(["5", "1"]).tolist() == [[-0.001, 0.0, 0.0], [0.5, 0.25, 0.0]]
    assert (found.notes, found.notes_on_features) == ((), ("a feature that a line lacks is 0, as in SVMlight",))


@pytest.mark.parametrize(
    "line",
    [
        "2  qid:1\t1:0.5   2:3 ",
        "2 qid:1 1:0.5 2:3 \r",
        "2.0 qid:1 2:3 1:0.5",
        "+2 qid:1 1:+.5 2:3.",
        "  2 qid:1 1:5e-1 2:3#2:9",
        "2 qid:1 1:0.5 2:3 # a comment with qid:7 9:9",
        "2 qid:1 0:0 1:0.5 2:3 4000000000:0",
    ],
)
def test_variants_of_a_line(line: str, tmp_path: Path) -> None:
    found = both_ways(written(tmp_path, f"{line}\n{line}\n"))
    assert found.rows.rows() == [("1", "0", 2.0), ("1", "1", 2.0)]
    assert found.matrix(["1", "2"]).tolist() == [[0.5, 0.5], [3.0, 3.0]]
    assert found.notes == (letor.NUMBERED,)


def test_a_blank_of_another_kind_is_no_blank_line(tmp_path: Path) -> None:
    path = written(tmp_path, "2 qid:1 1:0.5 # docid = b\n\u00a0")
    with pytest.raises(MalformedRowError) as caught:
        read_letor(path)
    assert caught.value.line == 2
    assert len(read_letor(written(tmp_path, "2 qid:1 1:0.5 # docid = b\n \t\r\n")).rows) == 1


def test_documents_without_an_id_are_numbered_beside_others(tmp_path: Path) -> None:
    found = read_letor(written(tmp_path, "1 qid:1 # docid = b\n0 qid:1\n2 qid:1 # DocID: c\n-1 qid:1"))
    assert found.rows["doc_id"].to_list() == ["b", "1", "c", "3"]
    assert found.rows["relevance"].to_list() == [1.0, 0.0, 2.0, -1.0]
    assert found.names == []


def test_random_files_are_read_as_they_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=(300, 9)).round(int(rng.integers(1, 6)))
    values[rng.random(values.shape) < 0.4] = 0
    lines = []
    for n, row in enumerate(values.tolist()):
        shown = [f"{number + 1}:{value!r}" for number, value in enumerate(row) if n % 3 or value]
        lines.append(f"{n % 4} qid:{n // 20} {' '.join(shown)} # docid = d{n}")
    path = written(tmp_path, "\n".join(lines))
    for size in (1 << 24, 500):  # in one block, and in many, whose lines have other features
        monkeypatch.setattr(letor, "blocks", lambda path, size=size: blocks(path, size))
        found = read_letor(path)
        np.testing.assert_array_equal(found.matrix(found.names), values.T)
        assert found.rows["doc_id"].to_list() == [f"d{n}" for n in range(300)]
        assert found.lines.tolist() == list(range(1, 301))


def test_scikit_learn_reads_the_same(tmp_path: Path) -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    path = written(tmp_path, "1 qid:3 1:0.5 3:2\n0 qid:3 2:1e-2\n2 qid:4 3:-1 # docid = x\n")
    matrix, relevance, queries = datasets.load_svmlight_file(str(path), query_id=True)
    found = read_letor(path)
    np.testing.assert_array_equal(found.matrix(["1", "2", "3"]), matrix.toarray().T)
    assert found.rows["relevance"].to_list() == relevance.tolist()
    assert found.rows["query_id"].to_list() == [str(query) for query in queries]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("1 qid:1 1:2\n0 1:0.5\n", MalformedRowError, "train.letor:2: .*relevance qid:QUERY.*without queries"),
        ("1 qid: 1:2\n", MalformedRowError, "train.letor:1: .*relevance qid:QUERY"),
        ("1\n", MalformedRowError, "train.letor:1: .*relevance qid:QUERY"),
        ("\n1 1:2 qid:7\n", MalformedRowError, "train.letor:2: .*relevance qid:QUERY"),
        ("x qid:1 1:2\n", DataError, "train.letor:1: relevance must be a number, got 'x'"),
        ("inf qid:1 1:2\n", DataError, "train.letor:1: relevance must be finite"),
        ("nan qid:1 1:2\n", DataError, "train.letor:1: relevance must be a number, got NaN"),
        ("1 qid:1 1:2\n1 qid:1 1:two\n", DataError, "train.letor:2: feature 1 must be a number, got 'two'"),
        ("1 qid:1 7:nan\n", DataError, "train.letor:1: feature 7 must be a number, got NaN"),
        ("1 qid:1 7:\n", DataError, "train.letor:1: feature 7 must be a number, got an empty field"),
        ("1 qid:1 1:1e999\n", DataError, "train.letor:1: feature 1 is beyond the range of float64"),
        ("1 qid:1 1:9007199254740993\n", DataError, "train.letor:1: feature 1 is '9007199254740993'"),
        ("1 qid:1 bm25:2\n", MalformedRowError, "train.letor:1: not a feature, expected NUMBER:VALUE.*got 'bm25:2'"),
        ("1 qid:1 1:2 3\n", MalformedRowError, "not a feature, .*got '3'"),
        ("1 qid:1 -1:2\n", MalformedRowError, "not a feature, .*got '-1:2'"),
        ("1 qid:1 1:2:3\n", DataError, "feature 1 must be a number, got '2:3'"),
        ("1 qid:1 1:2\n1 qid:1 1:.5:\n", DataError, "train.letor:2: feature 1 must be a number, got '.5:'"),
        ("1 qid:1 1:2\r 2:1\n", DataError, "train.letor:1: feature 1 must be a number"),
        ("1 qid:1 1:2 +2:1\n", MalformedRowError, "train.letor:1: not a feature.*'\\+2:1'"),
        ("1 qid:1 \ufeff1:2 2:1\n", MalformedRowError, "train.letor:1: not a feature"),
        ("1 qid:1 1:2\n1 qid:1 1:2 #\0\n" + "1 qid:1 1:2\n" * 500, FileFormatError, "train.letor:2: .*NUL"),
        ("1 qid:1 1:2\n" * 200_000 + "1 qid:1 1:2 #\0\n", FileFormatError, "train.letor:200001: .*NUL"),
        ("1 qid:1 4294967296:1\n", MalformedRowError, "not a feature"),
        ("1 qid:1 2:1 1:3 2:1\n", DuplicateError, "train.letor:1: feature 2 appears twice in one line"),
        ("# nothing\n\n", DataError, "LETOR without a single row, expected relevance qid:QUERY"),
        ("", DataError, "without a single row"),
        ("1 qid:1\x07 1:2\n", MalformedRowError, "train.letor:1: .*control character"),
    ],
)
def test_a_wrong_line_is_named(text: str, error: type[Exception], message: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=message):
        read_letor(written(tmp_path, text))


def test_binary_and_other_encodings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.letor"
    path.write_bytes(b"1 qid:1 1:2\n1 qid:\xff 1:2\n")
    with pytest.raises(FileFormatError, match=r"x\.letor:2: the text is not UTF-8"):
        read_letor(path)
    path.write_bytes(b"PAR1\0\0\0")
    with pytest.raises(FileFormatError, match="a Parquet file"):
        read_letor(path)


@pytest.mark.parametrize("name", ["train.txt", "train", "vali.letor", "test.svmlight", "x.txt.gz"])
def test_a_file_is_recognised_by_its_name_or_its_first_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(TEXT.encode()) if name.endswith(".gz") else TEXT.encode())
    assert dh.read_qrels(path).to_dict() == {"10": {"GX-1": 2.0, "GX-2": 0.0}, "x": {"GX-1": 1.0}}
    assert dh.Run(path, columns={"score": "2"}).to_dict() == {"10": {"GX-1": 3.0, "GX-2": 0.0}, "x": {"GX-1": 7.0}}


def test_trec_is_not_taken_for_letor(tmp_path: Path) -> None:
    assert find_format(written(tmp_path, "q1 0 qid:1 1\n", "x.txt"), None).name == "trec"
    assert not is_letor(b"# 1 qid:1 1:2\nq1 0 d1 1\n")
    assert is_letor(b"\n# a comment\n 1\tqid:1 1:2")
    assert not is_letor(b"")


def test_a_run_takes_one_feature(tmp_path: Path) -> None:
    path = written(tmp_path, TEXT)
    with pytest.raises(ColumnError, match="the file has 3 features, expected one of them as the score"):
        dh.read_run(path)
    with pytest.raises(ColumnError, match="no column '3' in the table, expected one of '1', '2', '5'"):
        dh.Run(path, columns={"score": "3"})
    with pytest.raises(DuplicateError, match=r"\(lines 1, 3\)"):
        dh.Qrels(
            written(tmp_path, "1 qid:1 # docid = a\n0 qid:1 # docid = b\n0 qid:1 # docid = a\n")
        ).check_duplicates()


def test_judgments_are_written_and_read_back(tmp_path: Path) -> None:
    qrels = dh.Qrels({"q1": {"a": 2, "b": -1}, "q2": {"ä": 0.5}})
    from deadheat.core.io.formats import write

    write(qrels.to_polars(), tmp_path / "x.letor", "qrels")
    assert (tmp_path / "x.letor").read_text("utf-8") == (
        "2 qid:q1 # docid = a\n-1 qid:q1 # docid = b\n0.5 qid:q2 # docid = ä\n"
    )
    assert dh.read_qrels(tmp_path / "x.letor").to_dict() == qrels.to_dict()
    with pytest.raises(DataError, match=r"write a run as \.csv"):
        write(dh.Run({"q": {"a": 1}}).to_polars(), tmp_path / "y.letor", "run")
    with pytest.raises(DataError, match="separates fields"):
        write(dh.Qrels({"q#1": {"a": 1}}).to_polars(), tmp_path / "y.letor", "qrels")


def test_features_are_evaluated_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, TEXT)
    found = dh.evaluate_columns(path, measures=["nDCG", "RR"])
    rows = pl.DataFrame({"query_id": ["10", "10", "x"], "doc_id": ["GX-1", "GX-2", "GX-1"], "score": [0.5, 0.25, 0.0]})
    assert found["1"].means() == dh.evaluate(path, rows, ["nDCG", "RR"]).means()
    assert list(dh.evaluate_columns(path, path, "RR", ["5"])) == ["5"]
    with pytest.raises(ColumnError, match="no column 'bm25'"):
        dh.evaluate_columns(path, columns=["bm25"])
    monkeypatch.setattr(letor, "MOST_CELLS", 5)
    with pytest.raises(DataError, match="3 features of 3 documents are too many at once"):
        dh.evaluate_columns(path)


@pytest.mark.parametrize("end", ["\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize("comment", [" docid = b note{}1 qid:1 1:0.95 # docid = c", " doc_id{}:b", "{}2 qid:2 1:1"])
def test_a_comment_has_no_character_after_which_a_row_may_follow(comment: str, end: str, tmp_path: Path) -> None:
    text = "2 qid:1 1:0.9 # docid = a\n0 qid:1 1:0.8 #" + comment.format(end) + "\n1 qid:1 1:0.3 # docid = d\n"
    with pytest.raises(MalformedRowError, match=rf"letor:2: a comment .* U\+{ord(end):04X}"):
        read_letor(written(tmp_path, text))


def test_a_line_that_is_a_comment_has_none_either(tmp_path: Path) -> None:
    with pytest.raises(MalformedRowError, match=r"letor:1: a comment .* U\+000D"):
        read_letor(written(tmp_path, "# made by hand\r2 qid:1 1:0.9\n1 qid:1 1:0.3\n"))


@pytest.mark.parametrize(
    "comment", ["\tdocid\t=\tb\t", " docid = b\r", " docid = b\r\r", "x\u00a0DOC_ID:b", "\u0301docid=b"]
)
def test_comments_may_have_tabs_and_blanks_beyond_ascii(comment: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"2 qid:1 1:0.9 #{comment}\n")
    assert read_letor(path).rows["doc_id"].to_list() == ["b"]
    text = path.read_bytes().decode()
    assert letor._read_lines(text, path, 1)[0].equals(read_letor(path).rows)  # the other way to read


@pytest.mark.slow
def test_thousands_of_features_are_evaluated_by_name(tmp_path: Path) -> None:
    path = written(tmp_path, "1 qid:1 " + " ".join(f"{n}:1" for n in range(1, 10_002)) + "\n")
    with pytest.raises(ColumnError, match=r"10,001 columns of scores .* expected 10,000 or fewer: name some"):
        dh.evaluate_columns(path)
    assert dh.evaluate_columns(path, columns=["10001"], measures="RR")["10001"].means() == {"RR": 1.0}
