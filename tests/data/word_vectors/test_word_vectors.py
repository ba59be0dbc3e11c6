"""Reading vector files: the rows that are needed, from every format, and the errors of broken ones."""

import bz2
import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.common.errors import DataError
from linker.data.vocabulary import EMPTY, Vocabulary
from linker.data.word_vectors import formats
from linker.data.word_vectors.file import VectorFile, align, coverage

WORDS = ["the", "Obama", "nyc", "café", ".", "<user>"]
ROWS = np.arange(18, dtype=np.float32).reshape(6, 3) / 8 - 1


def glove(words: list[str] = WORDS, rows: np.ndarray = ROWS, end: str = "\n") -> bytes:
    return "".join(f"{word} {' '.join(map(str, row))}{end}" for word, row in zip(words, rows)).encode()


def word2vec(words: list[str] = WORDS, rows: np.ndarray = ROWS) -> bytes:
    return f"{len(words)} {rows.shape[1]}\n".encode() + glove(words, rows, " \n")


def write(folder: Path, data: bytes, name: str = "vectors.txt") -> str:
    (folder / name).write_bytes(data)
    return str(folder / name)


@pytest.mark.parametrize(
    "data",
    [
        glove(), glove(end="\r\n"), glove()[:-1], glove().replace(b" ", b"\t"), b"\xef\xbb\xbf" + word2vec(),
        word2vec(), gzip.compress(glove(), mtime=0), bz2.compress(word2vec()),
    ],
    ids=["glove", "crlf", "no-end", "tabs", "bom", "word2vec", "gz", "bz2"],
)  # fmt: skip
def test_every_format_gives_the_same_words_and_numbers(tmp_path: Path, data: bytes) -> None:
    # The format is recognized by the content, not by the name.
    words, matrix = VectorFile(write(tmp_path, data)).read()
    assert words == WORDS
    assert matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix, ROWS)


def test_only_wanted_and_first_rows_are_kept(tmp_path: Path) -> None:
    path = write(tmp_path, glove())
    words, matrix = VectorFile(path, max_words=1).read({"café", "absent"})
    assert words == ["the", "café"]
    np.testing.assert_array_equal(matrix, ROWS[[0, 3]])
    assert VectorFile(path, max_words=0).read({"."})[0] == ["."]
    assert VectorFile(path, max_words=2).read()[0] == ["the", "Obama"]
    words, matrix = VectorFile(path, max_words=0).read({"absent"})
    assert words == []
    assert matrix.shape == (0, 3)


def test_a_row_that_is_not_needed_is_not_parsed(tmp_path: Path) -> None:
    path = write(tmp_path, glove() + b"rest no numbers here\n")
    assert VectorFile(path, max_words=0).read({"the"})[0] == ["the"]


def test_words_with_spaces_and_broken_words_are_left_out(tmp_path: Path) -> None:
    data = b"a 1 2 3\n. . . 4 5 6\nat x@y.z 7 8 9\n. 1 1 1\n\xff\xfe 2 2 2\nx\xc2\xa0y 3 3 3\n\nz 4 4 4\n"
    words, matrix = VectorFile(write(tmp_path, data)).read()
    assert words == ["a", ".", "z"]
    np.testing.assert_array_equal(matrix, [[1, 2, 3], [1, 1, 1], [4, 4, 4]])


@settings(max_examples=60)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"]), min_size=1),
        min_size=1,
        max_size=30,
    ),
    st.integers(1, 7),
    st.integers(1, 90),
    st.booleans(),
    st.data(),
)
def test_equals_a_line_by_line_reading(tmp_path_factory, words, dim, chunk, header, data) -> None:
    # Random words, parsed in blocks of every length.
    floats = st.floats(-1e3, 1e3, width=32)
    rows = [data.draw(st.lists(floats, min_size=dim, max_size=dim)) for _ in words]
    if not header:  # nor a word that would make one
        words, rows = ["first", *words], [[0.5] * dim, *rows]
    expected: dict[str, list[float]] = {}
    for word, row in zip(words, rows):
        expected.setdefault(word, row)
    content = (word2vec if header else glove)(words, np.array(rows, dtype=np.float32))
    path = tmp_path_factory.mktemp("v") / "vectors.txt"
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formats, "PARSED_NUMBERS", chunk)
        found, vectors = VectorFile(str(path)).read()
    assert found == list(expected)
    np.testing.assert_allclose(vectors, np.array(list(expected.values()), dtype=np.float32), rtol=1e-6)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"<html>\n<body>no vectors</body>\n", r"line 1: not word vectors: .*'<html>'"),
        (b"just words and words\n", "line 1: not word vectors"),
        (glove() + b"short 1 2\n", r"line 7: 2 numbers after 'short', expected 3"),
        (glove() + b"long 1 2 3 4\n", r"line 7: 4 numbers after 'long', expected 3"),
        (glove() + b"odd 1 two 3\n", r"line 7: column 2 is not a number: 'two'"),
        (glove() + b"odd 1 nan 3\n", r"line 7: column 2 is not a number: 'nan'"),
        (glove() + b"odd 1  3\n", r"line 7: column 2 is not a number: ''"),
        (b"9 3\n" + glove(), r"truncated, 6 of 9 vectors"),
        (b"1 3\nodd 1 2\n", r"line 2: "),
        (b"2 3\nthe " + bytes(range(12)) + b"\n", "line 2: not word vectors: .*gensim converts"),
        (gzip.compress(glove(), mtime=0)[:-9], "damaged or truncated"),
        (b"PK\x03\x04 and so on", "a zip archive; unpack it"),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path: Path, data: bytes, message: str) -> None:
    path = write(tmp_path, data, "vectors.gz")
    with pytest.raises(DataError, match=message) as error:
        VectorFile(path).read()
    assert path in str(error.value)


def test_arrows_threads_hold_no_memory_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    # One that lets go of it while Python ends, as after an error, aborts the program (exit code 134).
    given: list[pa.Buffer] = []
    reader = pa.BufferReader

    def recorded(buffer: pa.Buffer) -> pa.BufferReader:
        given.append(buffer)
        return reader(buffer)

    monkeypatch.setattr(pa, "BufferReader", recorded)
    data = b"0.5\n1e3"
    floats = formats._floats(data, 2)
    assert floats is not None
    assert floats.tolist() == [0.5, 1000.0]
    assert [pa.py_buffer(buffer).address == pa.py_buffer(data).address for buffer in given] == [False]


def test_names_are_looked_up_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cache = tmp_path / ".vector_cache"
    cache.mkdir()
    write(cache, gzip.compress(glove(["packed"])), "glove.6B.50d.txt.gz")
    assert VectorFile("6B.50d").read()[0] == ["packed"]
    write(cache, glove(["text"]), "glove.6B.50d.txt")
    assert VectorFile("glove.6B.50d").read()[0] == ["text"]
    monkeypatch.setenv("LINKER_VECTOR_CACHE", str(tmp_path / "shared"))
    (tmp_path / "shared").mkdir()
    write(tmp_path / "shared", glove(["shared"]), "glove.6B.50d.txt")
    assert VectorFile("6B.50d").read()[0] == ["shared"]
    assert VectorFile("6B.50d", cache=str(cache)).read()[0] == ["text"]


def test_an_unknown_source_lists_the_names() -> None:
    for source in ["6B.301d", "nowhere.txt", "glove.6B.txt"]:
        with pytest.raises(DataError, match=rf"{source}: neither a vector file.*6B\.300d"):
            VectorFile(source).read()


def test_align_follows_the_vocabulary_and_leaves_empty_at_zero() -> None:
    vocabulary = Vocabulary(["b", "only in training", "a"])
    aligned = align(vocabulary, ["a", EMPTY, "b"], ROWS[:3])
    np.testing.assert_array_equal(aligned, [[0, 0, 0], ROWS[2], [0, 0, 0], ROWS[0]])
    assert aligned.dtype == np.float32


def test_coverage_counts_running_tokens_and_words() -> None:
    report = coverage(Vocabulary(["the", "cat"]), [["the", "cat", "the", "zzz"], ["aaa", "zzz"], []])
    assert "50.0% of 6 running tokens and 50.0% of 4 distinct words" in report
    assert "zzz (2), aaa (1)" in report
    assert "0.0% of 0 running" in coverage(Vocabulary([]), [])
