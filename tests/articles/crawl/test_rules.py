"""Rules of robots.txt, as RFC 9309 has them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.articles.crawl.visit import Rules


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ("", "/a", True),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: *\nDisallow: /", "/a", False),
        ("User-agent: other\nUser-agent: Linker\nDisallow: /", "/a", False),
        ("User-agent: *\nDisallow: /\nAllow: /news/", "/news/a", True),
        ("User-agent: *\nDisallow: /*.php$", "/a.php", False),
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
