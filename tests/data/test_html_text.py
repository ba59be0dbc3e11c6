"""HTML in posts becomes text; nothing else is touched."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.common.errors import DataError
from linker.data import read_posts
from linker.data.html_text import anchors, plain_text, text_of_html


def test_html_becomes_text() -> None:
    for written, expected in [
        ("<p>The dam &amp; the <br>bridge</p><p>are gone</p>", "The dam & the\nbridge\n\nare gone"),
        ('<p>see <a href="https://x.org/a" rel="nofollow">x.org/a</a> now</p>', "see x.org/a now"),
        (
            '<p><a href="https://x.org/abc"><span class="invisible">https://</span><span class="ellipsis">x.org/a'
            '</span><span class="invisible">bc</span></a></p>',
            "x.org/a…",
        ),
        (
            '<p><span class="h-card"><a href="https://m.org/@kim" class="mention">@<span>kim</span></a></span> 1 &lt; 2'
            "</p>",
            "@kim 1 < 2",
        ),
        ("it&#39;s here<br/>or there", "it's here\nor there"),
        ("<b>really</b> <3 x < y > z", "really <3 x < y > z"),
        ("<ul><li>one</li>\n<li>two</li></ul>", "one\ntwo"),
        ("<p>&lt;p&gt; is a tag</p>", "<p> is a tag"),
        ("<p>a<script>alert(1)</script>b<!-- no --></p>", "ab"),
    ]:
        assert plain_text(written) == expected


def test_other_texts_stay_as_they_are() -> None:
    for text in [
        "I <3 you", "a < b > c", "use <b> for bold", "</3", "AT&amp;T", "x <- y", "<user@example.org>",
        "1<2 and 3>2",
    ]:  # fmt: skip
        assert plain_text(text) == text


@given(st.text(alphabet=st.sampled_from("<>/ab3 &;=\"'pr\n-"), max_size=40))
def test_without_a_tag_that_proves_it_a_text_is_never_changed(text: str) -> None:
    proofs = ("</a", "</b", "</p", "<a ", "<a\n", "<br", "<p", "<b/", "</s")
    if not any(proof in text for proof in proofs):
        assert plain_text(text) == text


@given(st.text(st.characters(codec="utf-8", exclude_characters="<>&\r\x0b\x0c"), max_size=60))
def test_words_of_html_are_the_words_of_the_text(text: str) -> None:
    assert plain_text(f"<p>{text}</p>").split() == text.split()


def test_posts_are_stripped_and_their_other_fields_are_not(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps({"id": 1, "content": "<p>The dam</p>", "card": "<p>as is</p>"}) + "\n")
    (post,) = read_posts(str(path))
    assert (post.text, post.extra) == ("The dam", {"card": "<p>as is</p>"})
    path.write_text('{"id": 1, "text": "<p><br></p>"}\n')
    with pytest.raises(DataError, match="empty text: only HTML tags"):
        read_posts(str(path))


def test_links_of_html() -> None:
    for written, expected in [
        ('<a href="https://x.org/a?b=1&amp;c=2">x</a>', ["https://x.org/a?b=1&c=2"]),
        (
            "<A HREF='https://x.org/a' class='u-url ellipsis'>x</A><a href=https://y.org>y</a>",
            ["https://x.org/a", "https://y.org"],
        ),
        ('<a class="mention hashtag" href="https://m.org/tags/x">#x</a>', []),
        ('<a href="/relative">x</a><a href="javascript:x">y</a><a name="z">z</a>', []),
        ("no link: https://x.org", []),
    ]:
        assert anchors(written) == expected


def test_html_that_shows_no_tag_is_decoded_where_it_is_known() -> None:
    assert plain_text("Dam &amp; river") == "Dam &amp; river"
    assert text_of_html("Dam &amp; river") == "Dam & river"


@given(st.text(max_size=60))
def test_any_text_has_links_or_none(text: str) -> None:
    assert all(link.lower().startswith("http") for link in anchors(f'<a href="{text}">{text}</a>'))
