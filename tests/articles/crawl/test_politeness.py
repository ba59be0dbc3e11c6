"""Rules of robots.txt, as RFC 9309 has them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.articles.crawl.politeness import Rules


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ("", "/a", True),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: *\nDisallow: /", "/a", False),
        ("User-agent: other\nDisallow: /", "/a", True),
        ("User-agent: other\nUser-agent: Linker\nDisallow: /", "/a", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: linker\nDisallow: /b", "/a", True),
        ("User-agent: linker\nAllow: /\nUser-agent: *\nDisallow: /", "/a", True),
        # The longest rule counts, whatever the order; of two of the same length, Allow.
        ("User-agent: *\nDisallow: /\nAllow: /news/", "/news/a", True),
        ("User-agent: *\nAllow: /news/\nDisallow: /news/paid", "/news/paid/a", False),
        ("User-agent: *\nDisallow: /a\nAllow: /a", "/a", True),
        # Wildcards
        ("User-agent: *\nDisallow: /*?print", "/a?print=1", False),
        ("User-agent: *\nDisallow: /*?print", "/a", True),
        ("User-agent: *\nDisallow: /*.php$", "/a.php", False),
        ("User-agent: *\nDisallow: /*.php$", "/a.php?x", True),
        ("User-agent: *\nDisallow: /a$", "/a", False),
        ("User-agent: *\nDisallow: /a$", "/ab", True),
        # Blank lines, comments, byte order mark, encoding
        ("User-agent: *\n\nDisallow: /a", "/a", False),
        ("\ufeffUser-agent: * # all\nDisallow: /a # no", "/a", False),
        ("User-agent: *\nDisallow: /caf%C3%A9", "/café", False),
        ("User-agent: *\nDisallow: /café", "/caf%c3%a9", False),
        ("<html>not found</html>", "/a", True),
        ("Disallow: /", "/a", True),
    ],
)
def test_rules(text: str, path: str, allowed: bool) -> None:
    assert Rules(text).allows(f"https://news.example{path}") is allowed


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("", 0),
        ("User-agent: *\nCrawl-delay: 10\nDisallow: /x", 10),
        ("User-agent: *\nCrawl-delay: 1.5", 1.5),
        ("User-agent: other\nCrawl-delay: 10", 0),
        ("User-agent: *\nCrawl-delay: soon", 0),
        ("User-agent: *\nCrawl-delay: inf", 0),
    ],
)
def test_delays(text: str, delay: float) -> None:
    assert Rules(text).delay == delay


@given(st.text(alphabet="abUser-agent: *Disallow/Crawl$\n%?#\r\x00é", max_size=200), st.text(max_size=40))
def test_any_file_is_read(text: str, path: str) -> None:
    rules = Rules(text)
    assert rules.allows(f"https://news.example/{path}") in (True, False)
    assert rules.delay >= 0


@given(
    st.lists(st.sampled_from(["/a", "/ab", "/a*b", "/*", "/b$", "/"]), max_size=5), st.text("ab", max_size=6)
)
def test_what_no_rule_disallows_is_allowed(allowed: list[str], path: str) -> None:
    text = "User-agent: *\n" + "".join(f"Allow: {rule}\n" for rule in allowed)
    assert Rules(text).allows(f"https://news.example/{path}")
