"""The page that shows which words count."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from linker.common.errors import LinkerError, ModelError
from linker.config import build
from linker.data.types import Article
from linker.models.model import Model
from linker.plots.words import check_page, page, words, write_page
from tests.plots.test_figures import star_transformer


class Reader(HTMLParser):
    """What a browser would see: tags, attributes, the text, and the marked words."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.marked: list[str] = []
        self.text = ""
        self._inside = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside == "mark":
            self.marked.append(data)
        if self._inside != "style":
            self.text += data


class Told:
    """A model whose weights are told: words with an e have one."""

    max_article_tokens, max_post_tokens = 6, 6

    def token_weights(self, texts, max_tokens):
        return [[(w.lower(), 0.5 if "e" in w else 0.0) for w in text.split()][:max_tokens] for text in texts]


def read(content: str) -> Reader:
    reader = Reader()
    reader.feed(content)
    return reader


def test_exactly_the_words_with_a_weight_are_marked() -> None:
    article = Article("a", "The ferry ran\n\naground there again", "No title here")
    numbers = words(Told(), article, "told")  # type: ignore[arg-type]
    assert [word.word for word in numbers.attended] == ["title", "here", "the", "ferry"]
    seen = read(page(numbers))
    assert seen.marked == ["title", "here", "The", "ferry"]
    assert "4 of 6 words (67 %)" in seen.text
    assert seen.tags.count("h2") == 1
    # What it never read is told apart from what it read and passed over.
    assert "reads 6 words at most" in seen.text
    assert seen.tags.count("i") == 1


def test_the_weights_are_those_of_the_encoder() -> None:
    model = star_transformer()
    article = Article("a", "harbour1 harbour2 orchard3 w5 w6 w7 w8", "harbour0")
    numbers = words(model, article)
    ((expected),) = model.token_weights([article.full_text], 1000)  # type: ignore[attr-defined]
    assert [(word.word, pytest.approx(word.weight, abs=1e-6)) for word in numbers.words] == expected
    for word in numbers.words:
        assert article.full_text[word.start : word.end].lower() == word.word


def test_hostile_texts_stay_text() -> None:
    text = "<script>alert(1)</script> <img src=x onerror=alert(2)> \u202eesrever \ud800 \x00 & \"'>here"
    article = Article("a", text, "</title><script>alert(3)</script>")
    told = Told()
    told.max_article_tokens = 100
    content = page(words(told, article, "<b onclick=x>the model</b>"))  # type: ignore[arg-type]
    seen = read(content)
    assert not {"script", "img"} & set(seen.tags)
    assert not [name for name in seen.attributes if name.startswith("on") or name in ("src", "href")]
    assert "<script>alert(1)</script>" in seen.text
    assert not {"\u202e", "\x00", "\ud800"} & set(content)
    assert "default-src 'none'" in content
    content.encode()


def test_models_that_cannot_tell_say_so() -> None:
    with pytest.raises(ModelError, match=r"bm25: cannot tell .* star_transformer"):
        words(build(Model, "bm25"), Article("a", "text"), "bm25")


def test_only_pages_are_written(tmp_path: Path) -> None:
    with pytest.raises(LinkerError, match=r"ends in \.html"):
        check_page(tmp_path / "words.svg")
    numbers = words(Told(), Article("a", "The ferry"), "told")  # type: ignore[arg-type]
    write_page(numbers, tmp_path / "words.html")
    assert (tmp_path / "words.html").read_text(encoding="utf-8") == page(numbers)
