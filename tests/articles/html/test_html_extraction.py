"""Text, title and date of pages: those of the article, and all of it."""
# ruff: noqa: E501  (pages)

import json

import pytest

from linker.articles.html.extraction import HtmlText, text_of_html

PARAGRAPHS = [
    "Ferry crews in the port of Hollinbay voted on Tuesday to strike for four days over new night shifts.",
    "The union said that most of its members on the Aldermoor line had backed the walkout, which begins on Friday.",
    "The operator called the decision irresponsible and offered to postpone the new timetable until the autumn.",
    "About six thousand islanders depend on the boats for groceries, medicine and school, the council said.",
    "The mayor asked both sides to return to the table before the weekend, and offered to pay for a mediator.",
    "Crews complain that the night shifts leave six hours between two watches, less than was promised to them.",
    "A spokesman for the company said that the shifts had been tested in spring, with volunteers, on two boats.",
    "Shopkeepers reported long queues on Wednesday, and the only bakery announced that flour would be rationed.",
]
PROSE = [f"<p>{text}</p>" for text in PARAGRAPHS]
TITLE = "Ferry crews vote to strike"
CARD = '<div class="card"><h3><a href="/story-{0}">Another story number {0}</a></h3><p>This is the lead of it, in a few words.</p></div>'


def extracted(
    body: str, head: str = f"<title>{TITLE} - Hollinbay Post</title>", url: str | None = None
) -> HtmlText:
    """The article of a page with this body."""
    header = "<header><a href='/'>Home</a></header>"
    return text_of_html(
        f"<html><head>{head}</head><body>{header}{body}<footer>Imprint</footer></body></html>", url
    )


@pytest.mark.parametrize(
    "body",
    [
        "<main><h1>{t}</h1><div class='article-body'>{a}</div><div class='ad'></div><div class='article-body'>{b}</div></main>",
        "<main><h1>{t}</h1><div class='article-body'><div>{a}</div></div><div class='article-body'><div>{b}</div></div></main>",
        "<h1>{t}</h1><article class='part'>{a}</article><article class='part'>{b}</article>",
        "<article><h1>{t}</h1><section class='page page-1'>{a}</section><section class='page page-2'>{b}</section></article>",
        "<article><header><h1>{t}</h1></header><section>{a}</section><aside>Ad</aside><section>{b}</section></article>",
        "<main><h1>{t}</h1><div data-component='text-block'>{a}</div><div data-component='text-block'>{b}</div></main>",
        "<main><h1>{t}</h1><div class='elementor-widget-text-editor'>{a}</div><div class='elementor-widget-text-editor'>"
        "{b}</div></main>",
        "<main><h1>{t}</h1><div class='body'>{a}</div><div class='body'>As was said: {b}</div></main>",
        "<main><h1>{t}</h1><div class='paragraph--type--text'>{a}</div><div class='paragraph--type--text'>{b}</div></main>",
    ],
)
@pytest.mark.parametrize("at", [2, 3, 5])
def test_a_body_in_several_containers_is_whole(body: str, at: int) -> None:
    page = body.format(t=TITLE, a="".join(PROSE[:at]), b="".join(PROSE[at:]))
    found = extracted(page + "".join(map(CARD.format, range(3))))
    assert all(found.text.count(text) == 1 for text in PARAGRAPHS)
    assert [found.text.index(text) for text in PARAGRAPHS] == sorted(map(found.text.index, PARAGRAPHS))
    assert "Another story" not in found.text
    assert (found.title, found.fault) == (TITLE, None)


@pytest.mark.parametrize(
    "extra",
    [
        '<div class="comments"><p>I think that this is wrong, and my neighbor thinks so, too.</p></div>',
        '<div class="related">' + "".join(map(CARD.format, range(8))) + "</div>",
        "".join(map(CARD.format, range(8))),
        '<div class="cookie-banner"><p>We use cookies on this site, as you have surely heard before.</p></div>',
        "<aside><p>Something else has happened in the town, which we report elsewhere.</p></aside>",
    ],
)
def test_what_is_not_the_article_is_not_added(extra: str) -> None:
    page = f"<main><article><h1>{TITLE}</h1><div class='body'>{''.join(PROSE)}</div></article>"
    assert extracted(f"{page}{extra}</main>").text == extracted(f"{page}</main>").text


def test_a_longer_text_for_search_engines_is_the_text() -> None:
    data = json.dumps({"@type": "NewsArticle", "headline": TITLE, "articleBody": " ".join(PARAGRAPHS)})
    head = f"<title>{TITLE}</title><script type='application/ld+json'>{data}</script>"
    assert extracted(f"<article><h1>{TITLE}</h1>{''.join(PROSE[:2])}</article>", head).text == " ".join(
        PARAGRAPHS
    )


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (f"<title>{TITLE} - Hollinbay Post</title>", f"<h1 class='logo'>Hollinbay Post</h1><article><h2>{TITLE}</h2>"),
        (f"<title>{TITLE} | Hollinbay Post</title>", f"<h1>Hollinbay Post</h1><article><h2>{TITLE}</h2>"),
        (f"<title>Hollinbay Post: {TITLE}</title>", f"<h1>Hollinbay Post</h1><article><h2>{TITLE}</h2>"),
        (f"<title>Hollinbay Post | {TITLE}</title>", f"<h1>Hollinbay Post</h1><article><h2>{TITLE}</h2>"),
        (f"<title>{TITLE} – Hollinbay Post</title><meta property='og:title' content='Hollinbay Post'>"
         "<meta property='og:site_name' content='Hollinbay Post'>", "<article>"),
        (f"<meta property='og:title' content='{TITLE} | Hollinbay Post'>"
         "<meta property='og:site_name' content='Hollinbay Post'>", "<article>"),
        (f"<title>Hollinbay Post: {TITLE}</title>", "<h1>Hollinbay Post</h1><footer>© 2019 Hollinbay Post</footer><article>"),
        (f"<title>{TITLE} | News | Post</title>", "<h1>Post</h1><a href='/'><img alt='Post'></a><article>"),
        (f"<title>{TITLE} – The Daily</title>", "<a href='/'>The Daily</a><article>"),
        ("<title>Live</title>", f"<h1>{TITLE}</h1><article class='update'><h2>Mediator arrives</h2>"),
        (f"<title>{TITLE}</title>", f"<main><div class='live-update'><h1>Mediator arrives</h1></div><h1>{TITLE}</h1><article>"),
        (f'<script type="application/ld+json">{{"@graph": [{{"@type": "WebSite", "name": "Post"}}, {{"@type": "LiveBlogPosting",'
         f'"headline": "{TITLE}", "liveBlogUpdate": [{{"@type": "BlogPosting", "headline": "Mediator arrives"}}]}}]}}</script>',
         "<article><h1>Mediator arrives</h1>"),
    ],
)  # fmt: skip
def test_the_title_is_that_of_the_article(head: str, body: str) -> None:
    assert extracted(f"{body}{''.join(PROSE)}</article>", head).title == TITLE


@pytest.mark.parametrize(
    ("head", "body", "url"),
    [
        ("", "<time datetime='2024-01-16'>x</time><aside><time datetime='2019-05-05'>x</time></aside>", None),
        ("", "<aside><time datetime='2019-05-05'>x</time></aside><time datetime='2024-01-16'>x</time>", None),
        ("", "<div class='related'><time datetime='2019-05-05'></time></div><time datetime='2024-01-16'></time>", None),
        ("", "<time class='updated' datetime='2024-01-18'></time><time datetime='2024-01-16'></time>", None),
        ('<script type="application/ld+json">{"@type": "NewsArticle", "datePublished": 1705397400}</script>', "", None),
        ('<script type="application/ld+json">{"@type": "WebPage", "datePublished": "2024-01-16T09:30Z"}</script>', "", None),
        ('<script type="application/ld+json">{"@type": "NewsArticle", "datePublished": "1970-01-01"}</script>',
         "<time datetime='2024-01-16'></time>", None),
        ("", "", "https://news.example/world/2024/jan/16/strike"),
        ("", "", "https://news.example/2024/01/16/strike.html"),
        ('<meta name="date" content="2024-01-16">', "", None),
        ("", "<p>Last updated: <time datetime='2024-01-18'></time></p><p>First published: <time datetime='2024-01-16'></time></p>", None),
        ("", "<span>Mis à jour le</span> <time datetime='2024-01-18'></time> <time datetime='2024-01-16'></time>", None),
        ("", "<time datetime='2024-01-18'>Updated 18 Jan</time> <time datetime='2024-01-16'>16 Jan</time>", None),
        ("", "<div>Live updates</div><time datetime='2024-01-16'></time>", None),
        ("", "<span itemprop='dateModified' content='2024-01-18'></span><meta itemprop=datePublished content=2024-01-16>", None),
        ("<meta property='article:modified_time' content='2024-01-18'><meta property='article:published_time' "
         "content='2024-01-16'>", "", None),
        ('<script type="application/ld+json">[{"@type": "VideoObject", "uploadDate": "2019-05-05", "datePublished": '
         '"2019-05-05"}, {"@type": "NewsArticle", "datePublished": "2024-01-16"}]</script>', "", None),
        ("", "<ul><li><h3><a href='/old'>Old story</a></h3><time datetime='2019-05-05'></time></li></ul>",
         "https://news.example/2024/01/16/strike"),
        ("", "<p class='byline'>By A. Writer | <time>16 January 2024</time></p>", None),
    ],
)  # fmt: skip
def test_the_date_is_that_of_the_article(head: str, body: str, url: str | None) -> None:
    page = f"<main><article><h1>{TITLE}</h1>{body}{''.join(PROSE)}</article>{CARD}<time datetime='2019-01-01'></time></main>"
    date = extracted(page, f"<title>{TITLE}</title>{head}", url).date
    assert date is not None
    assert date.startswith("2024-01-16")


def test_a_date_of_another_story_is_none() -> None:
    aside = "<aside><a href='/old'>Old</a><time datetime='2019-05-05'>5 May 2019</time></aside>"
    found = extracted(f"<main><article><h1>{TITLE}</h1>{''.join(PROSE)}</article>{aside}{CARD}</main>")
    assert (found.date, found.notes) == (None, [])


def test_a_body_for_each_kind_of_screen_is_there_once() -> None:
    text = "".join(PROSE)
    found = extracted(
        f"<main><h1>{TITLE}</h1><div class='wide'>{text}</div><div class='small'>{text}</div></main>"
    )
    assert found.text.count(PARAGRAPHS[0]) == found.text.count(PARAGRAPHS[-1]) == 1


def test_a_second_page_is_named() -> None:
    head = f"<title>{TITLE}</title><link rel='next' href='/strike?page=2'>"
    found = extracted(f"<article><h1>{TITLE}</h1>{''.join(PROSE)}</article>", head)
    assert found.notes == ["the article continues on /strike?page=2, which is not read"]


@pytest.mark.parametrize(
    "item",
    [
        "<article class='card'><h3><a href='/story-{0}'>Story number {0} of today</a></h3><p>The lead of it, in words.</p></article>",
        "<li><a href='/story-{0}'>Story number {0} of today</a><p>The lead of it, in a few words.</p></li>",
        "<div class='result'><a href='https://other.example/{0}'>Story number {0} of today</a><span>The lead of it.</span></div>",
        "<a href='/story-{0}'><h2>Story number {0} of today</h2><p>The lead of it, in a few words.</p></a>",
        "<tr><td>{0}.</td><td><a href='/story-{0}'>Story number {0} of today</a></td></tr>",
        "<li>January {0}: <a href='/story-{0}'>A long title of the story number {0} about the strike</a></li>",
        "<tr><td><a href='/story-{0}'>Story number {0} of today</a></td></tr><tr><td>9 points by <a href='/u'>a user of the "
        "site</a> <a href='/t'>3 hours ago</a> | <a href='/h'>hide</a> | <a href='/c'>12 comments</a></td></tr>",
    ],
)
def test_a_list_of_stories_is_no_article(item: str) -> None:
    tag = "table" if item.startswith("<tr") else "ul" if item.startswith("<li") else "div"
    found = extracted(f"<main><h1>News</h1><{tag}>{''.join(map(item.format, range(8)))}</{tag}></main>")
    assert found.fault == "the page is a list of 8 stories, not an article"


def test_a_feed_is_no_article() -> None:
    feed = "<?xml version='1.0'?><rss><channel><item><title>A</title></item><item><title>B</title></item></channel></rss>"
    assert text_of_html(feed, None).fault == "the page is a feed of 2 stories, not an article"


def test_a_list_with_a_long_first_story_is_no_article() -> None:
    lead = f"<article><h2><a href='/lead'>{TITLE}</a></h2>{''.join(PROSE[:4])}</article>"
    cards = "".join(map(CARD.replace("card", "teaser").format, range(6)))
    assert extracted(f"<main>{lead}{cards}</main>", "<title>News</title>").fault is not None


@pytest.mark.parametrize(
    "article",
    [
        f"<h2><a href='/strike'>{TITLE}</a></h2>{''.join(PROSE)}",
        f"<h1>{TITLE}</h1>{''.join(PROSE[:3])}{CARD}{''.join(PROSE[3:])}",
        f"<h1>{TITLE}</h1>{''.join(PROSE).replace('<p>', '<p><a href=/1>Ferry crews said this</a> ')}",
    ],
)
def test_an_article_with_links_is_one(article: str) -> None:
    assert extracted(f"<article>{article}</article>{''.join(map(CARD.format, range(6)))}").fault is None
