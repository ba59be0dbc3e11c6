"""Keys of links: one for all addresses of an article, different ones for different articles."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.data.links.link_key import host_of, link_key

STORY = "news.example/2026/01/otters-return"

# Address → key.
CASES = {
    # scheme, www, mobile and AMP hosts, ports, fragments, slashes
    "https://news.example/2026/01/otters-return": STORY,
    "http://www.news.example/2026/01/otters-return/": STORY,
    "HTTPS://WWW.News.Example:443/2026/01/otters-return": STORY,
    "https://m.news.example/2026/01/otters-return#comments": STORY,
    "https://amp.news.example//2026/01//otters-return": STORY,
    "https://mobile.news.example/2026/01/otters-return/index.html": STORY,
    "https://www2.news.example/2026/01/otters-return/amp/": STORY,
    "https://news.example/amp/2026/01/otters-return": STORY,
    "https://news.example/2026/01/otters-return.amp": STORY,
    "https://news.example/2026/01/otters-return;jsessionid=1A2B": STORY,
    "//news.example/2026/01/otters-return": STORY,
    "https://news.example/e\u0301te": "news.example/%C3%A9te",
    "news.example/2026/01/otters-return": STORY,
    "https://user:word@news.example./2026/01/otters-return": STORY,
    "https://news.example/2026/01/otters-return.amp.html": "news.example/2026/01/otters-return.html",
    "https://en.m.wikipedia.org/wiki/Otter": "en.wikipedia.org/wiki/Otter",
    "https://www.bbc.co.uk/news/world-1234": "bbc.co.uk/news/world-1234",
    "https://amp.co.uk/tariff": "amp.co.uk/tariff",
    "https://m.co/tariff": "m.co/tariff",
    "https://news.example:8080/a": "news.example:8080/a",
    "https://news.example": "news.example",
    "https://news.example/": "news.example",
    # parameters that say where a click came from, and others
    f"https://{STORY}?matomo_source=x&piwik_kwd=y&cx_testId=1&linkId=2": STORY,
    f"https://{STORY}?utm_source=x&utm_medium=social&fbclid=abc": STORY,
    f"https://{STORY}?CMP=share_btn_tw&smid=tw-nyt&taid=6&ref_src=twsrc": STORY,
    f"https://{STORY}?gclid=1&mc_cid=2&ocid=3&smtyp=4&outputType=amp&amp=1": STORY,
    f"https://{STORY}?at_medium=RSS&amp;at_campaign=KARANGA": STORY,
    f"https://{STORY}?gbraid=1&wbraid=2&srsltid=3&ttclid=4&twclid=5&li_fat_id=6&igsh=7&wt_zmc=8&gad_source=9": STORY,
    f"https://{STORY}?mkt_tok=1&yclid=2&dclid=3&xtor=4&s_cid=5&icid=6&guccounter=7&soc_src=8&si=9&share=10": STORY,
    "https://news.example/?article=1&story_fbid=2&v=3&s=4&CMP=5": "news.example?article=1&s=4&story_fbid=2&v=3",
    "https://news.example/story?id=7&cid=8&uid=9&source=z": "news.example/story?cid=8&id=7&source=z&uid=9",
    "https://news.example/?p=123": "news.example?p=123",
    "https://news.example/index.php?p=123&utm_campaign=y": "news.example?p=123",
    "https://news.example/read?b=2&a=1": "news.example/read?a=1&b=2",
    "https://news.example/a?page=": "news.example/a?page=",
    "https://news.example/#!/article/5": "news.example#!/article/5",
    # characters
    "https://news.example/caf%c3%a9": "news.example/caf%C3%A9",
    "https://news.example/café": "news.example/caf%C3%A9",
    "https://news.example/a%2Db%20c": "news.example/a-b%20c",
    "https://bücher.example/a": "xn--bcher-kva.example/a",
    # wrappers
    f"https://l.facebook.com/l.php?u=https%3A%2F%2F{STORY}%3Ffbclid%3DIwAR&h=AT0": STORY,
    f"https://lm.facebook.com/l.php?u=https%3A%2F%2Fm.{STORY}&h=AT0": STORY,
    f"https://www.facebook.com/sharer/sharer.php?u=http://{STORY}": STORY,
    f"https://l.instagram.com/?u=https%3A%2F%2F{STORY}&e=AT0": STORY,
    f"https://l.threads.net/?u=https%3A%2F%2F{STORY}&e=AT0": STORY,
    f"https://www.google.com/url?sa=t&url=https%3A%2F%2F{STORY}&usg=AOv": STORY,
    f"https://www.google.de/url?q=https://{STORY}&sa=D": STORY,
    f"https://www.google.com/amp/s/amp.{STORY}/": STORY,
    f"https://google.com/amp/{STORY}": STORY,
    f"https://www.google.com/amp/s/{STORY}%3famp=1": STORY,
    f"https://news-example.cdn.ampproject.org/c/s/{STORY}": STORY,
    f"https://cdn.ampproject.org/v/s/www.{STORY}?amp_js_v=0.1&usqp=mq3": STORY,
    f"https://web.archive.org/web/20260102030405/https://www.{STORY}": STORY,
    f"https://web.archive.org/web/20260102030405id_/http:/{STORY}": STORY,
    f"https://archive.org/wayback/2026/{STORY}": STORY,
    f"https://archive.ph/2026.01.02-030405/https://{STORY}": STORY,
    f"https://archive.today/https://{STORY}": STORY,
    f"https://12ft.io/proxy?q=https%3A%2F%2F{STORY}": STORY,
    f"https://www.youtube.com/redirect?event=video&q=https%3A%2F%2F{STORY}": STORY,
    f"https://out.reddit.com/t3_1?url=https%3A%2F%2F{STORY}&token=AQ": STORY,
    f"https://t.umblr.com/redirect?z=https%3A%2F%2F{STORY}&t=ZG": STORY,
    f"https://vk.com/away.php?to=https%3A%2F%2F{STORY}": STORY,
    f"https://twitter.com/intent/tweet?text=Read&url=https%3A%2F%2F{STORY}": STORY,
    f"https://eur01.safelinks.protection.outlook.com/?url=https%3A%2F%2F{STORY}&data=05": STORY,
    f"https://duckduckgo.com/l/?uddg=https%3A%2F%2F{STORY}&rut=1": STORY,
    f"https://go.bsky.app/redirect?u=https%3A%2F%2F{STORY}": STORY,
    f"https://away.vk.com/away.php?to=https%3A%2F%2F{STORY}&post=1": STORY,
    f"https://steamcommunity.com/linkfilter/?u=https%3A%2F%2F{STORY}": STORY,
    f"https://slack-redir.net/link?url=https%3A%2F%2F{STORY}": STORY,
    f"https://t.me/iv?url=https%3A%2F%2F{STORY}&rhash=1": STORY,
    f"https://link.zhihu.com/?target=https%3A//{STORY}": STORY,
    f"https://click.redditmail.com/CL0/https:%2F%2F{STORY}": STORY,
    f"https://web.archive.org/web/https://{STORY}": STORY,
    f"https://web.archive.org/save/https://{STORY}": STORY,
    f"https://archive.ph/?run=1&url=https://{STORY}": STORY,
    f"https://removepaywalls.com/https://{STORY}": STORY,
    # escapes
    rf"https://{STORY}?utm\_source=x": STORY,
    r"https://news.example/2026/01/otters\-return": STORY,
    "https://news.example/read?id=1&amp;v=2&#38;fbclid=3": "news.example/read?id=1&v=2",
    "https://news.example/read?id=1&amp;amp;v=2": "news.example/read?id=1&v=2",
    "https://www-news-example.translate.goog/a?_x_tr_sl=de&_x_tr_tl=en": "news.example/a",
    "https://two--words-example.translate.goog/a": "two-words.example/a",
    f"https://l.facebook.com/l.php?u=https%3A%2F%2Fwww.google.com%2Famp%2Fs%2F{STORY}": STORY,
    # a wrapper that names no page stays what it is
    "https://archive.ph/aBcD1": "archive.ph/aBcD1",
    "https://www.google.com/search?q=otters": "google.com/search?q=otters",
    "https://l.facebook.com/l.php?h=AT0": "l.facebook.com/l.php?h=AT0",
}


@pytest.mark.parametrize("url", CASES)
def test_key(url: str) -> None:
    assert link_key(url) == CASES[url]


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "mailto:a@news.example", "javascript:alert(1)", "ftp://news.example/a", "word", "http://",
        "at://did:plc:x/1", "https://news.example/a b", "https://127.0.0.1/a", "https://localhost/a",
        "https://[::1/a", "https://a.b:99999/",
    ],
)  # fmt: skip
def test_no_address_has_no_key(text: str) -> None:
    assert link_key(text) is None


def test_different_articles_have_different_keys() -> None:
    urls = [
        f"https://news.example/{rest}" for rest in ("a", "A", "a?id=1", "a?id=2", "a.html", "a/b", "?p=1")
    ]
    assert len({link_key(url) for url in urls}) == len(urls)


LABEL = st.text(string.ascii_lowercase + string.digits, min_size=2, max_size=8)
HOST = st.lists(LABEL, min_size=1, max_size=3).map(lambda labels: ".".join([*labels, "example"]))
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), max_size=8)
PLAIN = st.text(string.ascii_letters + string.digits + "-_.~%/", max_size=30)
FIELD = st.tuples(
    st.text(string.ascii_letters, min_size=1, max_size=5), TEXT.filter(lambda t: not set(t) & set("#&"))
)


@given(HOST, PLAIN | TEXT, st.lists(FIELD, max_size=3))
def test_the_key_of_a_key_is_the_key(host: str, path: str, fields: list[tuple[str, str]]) -> None:
    query = "&".join(f"{name}={value}" for name, value in fields)
    key = link_key(f"https://{host}/{path}?{query}")
    if key is not None:
        assert link_key(f"https://{key}") == key
        assert key.isprintable()
        assert host_of(key)


@given(st.text(max_size=60))
def test_any_text_is_survived(text: str) -> None:
    for url in (
        text,
        f"https://{text}",
        f"https://www.google.com/url?q={text}",
        f"https://archive.ph/{text}",
    ):
        key = link_key(url)
        assert key is None or not set(key) & set(" \n\t\0")


@given(
    HOST,
    st.sampled_from(["", "/", "/story-1", "/a/b.html"]),
    st.permutations(["utm_source=x", "fbclid=1", "id=5"]),
)
def test_order_and_trackers_do_not_matter(host: str, path: str, fields: list[str]) -> None:
    assert link_key(f"http://www.{host}{path}?{'&'.join(fields)}#top") == link_key(
        f"https://{host}{path}?id=5"
    )
