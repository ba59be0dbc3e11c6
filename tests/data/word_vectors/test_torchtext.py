"""What torchtext 0.18 itself gave (scripts/make_torchtext_golden.py): our tokenizer and readers give the same."""

import importlib
import json
import os
import shutil
import ssl
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from linker.common.errors import ConfigError, DataError
from linker.config import build
from linker.data.tokenizers.simple import BasicEnglishTokenizer
from linker.data.tokenizers.tokenizer import Tokenizer
from linker.data.vocabulary import Vocabulary
from linker.data.word_vectors.file import VectorFile, align
from linker.data.word_vectors.word_vectors import WordVectors

GOLDEN = Path(__file__).parents[2] / "golden" / "data"
CACHE = GOLDEN / "torchtext"
TEXTS = [
    json.loads(line) for line in (GOLDEN / "basic_english.jsonl").read_text(encoding="utf-8").splitlines()
]
EXPECTED = json.loads((CACHE / "expected.json").read_text(encoding="utf-8"))
GLOVE = dict(zip(EXPECTED["glove"]["words"], EXPECTED["glove"]["vectors"]))
SOURCE = "glove.6B.50d.txt"


def test_basic_english_gives_torchtexts_tokens() -> None:
    for case in TEXTS:
        assert BasicEnglishTokenizer().tokenize(case["text"]) == case["tokens"]


def test_the_words_and_vectors_are_torchtexts() -> None:
    words, matrix = VectorFile(str(CACHE / SOURCE)).read()
    # Ours leaves out words with white space inside, and keeps the first row of a word, torchtext the last.
    assert words == [word for word in GLOVE if word != "no\u00a0break"]
    expected = np.array([GLOVE[word] for word in words], dtype=np.float32)
    assert EXPECTED["glove"]["words"].count("the") == 2
    expected[words.index("the")] = EXPECTED["glove"]["vectors"][0]
    # torchtext rounds to float64 first, which here ends one float32 beside the number written.
    row = words.index("twice")
    expected[row, 0] = np.nextafter(expected[row, 0], np.float32(2))
    np.testing.assert_array_equal(matrix, expected)
    assert matrix.dtype == np.float32


def test_max_words_is_torchtexts_max_vectors() -> None:
    words, matrix = VectorFile(str(CACHE / SOURCE), max_words=3).read()
    assert words == EXPECTED["first"]["words"]
    np.testing.assert_array_equal(matrix, np.array(EXPECTED["first"]["vectors"], dtype=np.float32))


def test_a_header_and_words_that_are_no_utf8_are_left_out_as_in_torchtext() -> None:
    words, matrix = VectorFile(str(CACHE / "headed.vec")).read()
    assert words == EXPECTED["headed"]["words"]
    # torchtext leaves a row of zeros behind for the word it left out; no word has it.
    assert len(EXPECTED["headed"]["vectors"]) == len(words) + 1
    np.testing.assert_array_equal(matrix, np.array(EXPECTED["headed"]["vectors"][:-1], dtype=np.float32))


def test_tokens_with_capitals_get_the_vectors_of_get_vecs_by_tokens() -> None:
    expected = np.array(EXPECTED["get_vecs_by_tokens"], dtype=np.float32)
    expected[EXPECTED["tokens"].index("the")] = EXPECTED["glove"]["vectors"][0]  # the first row, see above
    vocabulary = Vocabulary(EXPECTED["tokens"])
    words, matrix = VectorFile(str(CACHE / SOURCE), max_words=0).read(set(EXPECTED["tokens"]))
    rows = [vocabulary.words.index(token) for token in EXPECTED["tokens"]]
    np.testing.assert_array_equal(align(vocabulary, words, matrix)[rows], expected)


@pytest.mark.parametrize(
    "use",
    [
        lambda: build(Tokenizer, "torchtext"),
        lambda: build(WordVectors, {"type": "torchtext", "name": "glove.6B.50d"}).read(),
    ],
    ids=["tokenizer", "vectors"],
)
@pytest.mark.parametrize("error", [ImportError("No module"), OSError("undefined symbol: x\nmore")], ids=repr)
def test_without_torchtext_the_message_names_the_extra_and_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use: Callable[[], object], error: Exception
) -> None:
    (tmp_path / "torchtext.py").write_text(f"raise {error!r}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for module in [name for name in sys.modules if name.partition(".")[0] == "torchtext"]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(ConfigError, match=r"pip install 'article-linker\[torchtext\]'") as raised:
        use()
    assert str(error).splitlines()[0] in str(raised.value)
    assert "basic_english" in str(raised.value)
    assert "\n" not in str(raised.value)


def has_torchtext() -> bool:
    try:
        importlib.import_module("torchtext")
    except (ImportError, OSError):  # OSError: with any torch but 2.3
        return False
    return True


needs_torchtext = pytest.mark.skipif(not has_torchtext(), reason="scripts/test_torchtext.sh runs it")


@needs_torchtext
def test_the_tokenizer_of_torchtext_itself() -> None:
    tokenizer = build(Tokenizer, "torchtext")
    for case in TEXTS:
        assert tokenizer.tokenize(case["text"]) == case["tokens"]
    with pytest.raises(ConfigError, match="cannot load the tokenizer 'nonsense'"):
        build(Tokenizer, {"type": "torchtext", "name": "nonsense"})


@needs_torchtext
def test_the_vectors_of_torchtext_itself(tmp_path: Path) -> None:
    shutil.copy(CACHE / "glove.6B.50d.txt", tmp_path)
    tokens = EXPECTED["tokens"]
    context, environment = ssl._create_default_https_context, dict(os.environ)
    for _ in range(2):  # at the first reading torchtext writes its cache, at the second it reads it
        config = {"type": "torchtext", "name": "glove.6B.50d", "cache": str(tmp_path)}
        words, matrix = build(WordVectors, config).read(set(tokens))
        vocabulary = Vocabulary(tokens)
        rows = align(vocabulary, words, matrix)[[vocabulary.words.index(token) for token in tokens]]
        np.testing.assert_array_equal(rows, np.array(EXPECTED["get_vecs_by_tokens"], dtype=np.float32))
        assert set(GLOVE) - set(words) == {"no\u00a0break"}
    assert ssl._create_default_https_context is context
    assert dict(os.environ) == environment


@needs_torchtext
def test_torchtext_may_not_run_code_from_its_cache(tmp_path: Path) -> None:
    import torch

    class Code:
        def __reduce__(self) -> tuple:
            return os.mkdir, (str(tmp_path / "ran"),)

    torch.save((["a"], {"a": 0}, Code(), 1), tmp_path / "glove.6B.50d.txt.pt")
    vectors = build(WordVectors, {"type": "torchtext", "name": "glove.6B.50d", "cache": str(tmp_path)})
    with pytest.raises(DataError, match=r"glove\.6B\.50d: torchtext cannot load the vectors"):
        vectors.read()
    assert not (tmp_path / "ran").exists()
    with pytest.raises(DataError, match="no vectors found"):
        build(WordVectors, {"type": "torchtext", "name": "nowhere", "cache": str(tmp_path)}).read()
    with pytest.raises(ConfigError, match="vectors of character n-grams, not of words"):
        build(WordVectors, {"type": "torchtext", "name": "charngram.100d"}).read()
