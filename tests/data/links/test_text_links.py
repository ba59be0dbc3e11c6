"""Links in plain text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.data.links.text_links import links_in
from linker.data.links.wrappers import repaired


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("no link at all, not even example.org", []),
        ("see https://a.example/b.", ["https://a.example/b"]),
        ("(https://a.example/b)", ["https://a.example/b"]),
        ("(see https://a.example/b_(c))!", ["https://a.example/b_(c)"]),
        ("“https://a.example/b”", ["https://a.example/b"]),
        ("[text](https://a.example/b)", ["https://a.example/b"]),
        ("www.a.example/b and https://c.example", ["www.a.example/b", "https://c.example"]),
        ("https://a.example/b https://a.example/b", ["https://a.example/b"]),
        ("https://a.example/2026/… is shortened", []),
        ("https://a.example/2026/... is shortened", []),
        ("读https://a.example/b。很好", ["https://a.example/b"]),
        ("https://a.example/b很好", ["https://a.example/b"]),
        ("https://a.example/straße?x=ü", ["https://a.example/straße?x=ü"]),
        ("mail me@www.a.example or https://", []),
        # escapes, glued addresses, marks and scripts directly after an address
        (r"https://a.example/b\_c\_d", ["https://a.example/b_c_d"]),
        ("[https://a.example/b_c](https://a.example/b_c)", ["https://a.example/b_c"]),
        ("[https://a.example/b](https://a.example/b).", ["https://a.example/b"]),
        (r"[https://a.example/b\_c](https://a.example/b_c)", ["https://a.example/b_c"]),
        ('![x](https://a.example/b "t")', ["https://a.example/b"]),
        (r"https:\/\/a.example\/b", ["https://a.example/b"]),
        ("<https://a.example/b>", ["https://a.example/b"]),
        ("https://a.example/b?x=1&amp;y=2", ["https://a.example/b?x=1&y=2"]),
        ("&lt;a href=&quot;https://a.example/b&quot;&gt;", ["https://a.example/b"]),
        ("https://a.example/bhttps://c.example/d", ["https://a.example/b", "https://c.example/d"]),
        ("https://a.example/b/https://c.example/d", ["https://a.example/b/", "https://c.example/d"]),
        ("https://a.example/b,https://c.example/d", ["https://a.example/b", "https://c.example/d"]),
        ("https://https://a.example/b", ["https://a.example/b"]),
        (
            "https://web.archive.org/web/2024/https://a.example/b",
            ["https://web.archive.org/web/2024/https://a.example/b"],
        ),
        ("https://a.example/?u=https://c.example/d", ["https://a.example/?u=https://c.example/d"]),
        ("(https://a.example/b)and more", ["https://a.example/b"]),
        ("(https://a.example/b),then", ["https://a.example/b"]),
        (
            "**https://a.example/b** ~~https://c.example/d~~ `https://e.example/f`",
            ["https://a.example/b", "https://c.example/d", "https://e.example/f"],
        ),
        ("“https://a.example/b”，https://c.example/d！", ["https://a.example/b", "https://c.example/d"]),
        ("「https://a.example/b」と https://c.example/dดูข่าว", ["https://a.example/b", "https://c.example/d"]),
        ("https://a.example/b؟ https://c.example/d।", ["https://a.example/b", "https://c.example/d"]),
        (r"https://a.example/b\nnext", ["https://a.example/b"]),
        ("HTTPS://A.example/b?x=1&y=2#z,", ["HTTPS://A.example/b?x=1&y=2#z"]),
    ],
)
def test_links(text: str, links: list[str]) -> None:
    assert links_in(text) == links


@given(st.text(max_size=200))
def test_links_are_parts_of_the_text(text: str) -> None:
    for link in links_in(f"{text} https://a.example/b {text}"):
        assert link in repaired(f"{text} https://a.example/b {text}")
        assert not any(character.isspace() for character in link)
