"""The date on which the article of a page was published."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

from linker.articles.html.blocks import class_and_id, text_of
from linker.articles.html.metadata import Metadata, is_here, is_update
from linker.data.io.dates import parse_date

_PUBLISHED = frozenset(
    """
    article:published_time og:article:published_time og:published_time og:pubdate datepublished pubdate date
    publishdate publish-date publish_date published published_at published-date publication_date dc.date.issued dc.date
    dc.date.created dcterms.date dcterms.issued dcterms.created parsely-pub-date sailthru.date article.published
    cxenseparse:recs:publishtime originalpublicationdate article_date_original article:create_at bt:pubdate
    rnews:datepublished citation_publication_date citation_date article:published displaydate datecreated
    """.split()  # noqa: SIM905
)
_CHANGED = re.compile(
    r"modif|updat(?!es\b)|uppdat|oppdat|opdat|aktualis|aktualiz|mise?[- ]?[aà][- ]?jour|actualis|actualiz|atualiz|"
    r"aggiorn|bijgewerkt|gewijzigd|ge[aä]ndert|güncelle|обновлен|изменен|更新|修改|수정|업데이트",
    re.IGNORECASE,
)
# Words before a time that say what it is the time of, at most.
_LABEL_WORDS = 4
# Words of a line with the author and the date, at most; and of a line that is not of the text.
_LONGEST_LINE, _SHORT_LINE = 25, 12
_DAY_IN_PATH = re.compile(
    r"(?<!\d)(20\d\d|19[89]\d)[/_-]?(0[1-9]|1[0-2]|[1-9](?=[/_-])|(?<=/)[a-z]{3}(?=/))[/_-]?(0[1-9]|[12]\d|3[01])(?!\d)"
)
# What programs write for a time that they do not know.
_UNKNOWN = datetime(1970, 1, 2, tzinfo=timezone.utc)
_ELSEWHERE = ("aside", "nav", "footer", "figure", "video")
_OTHER_STORY = re.compile(
    r"(?<![a-z])(?:related|recommend\w*|teasers?|promos?|comments?|sidebar|video\w*|player|most-(?:read|popular)|widget|"
    r"more-(?:stories|news|on)|popular|trending|footer|verwandte|mehr-zum)(?![a-z])",
    re.IGNORECASE,
)


def date_of(page: Metadata, title: Any) -> str | None:
    """Return when the article was published, in ISO 8601, by what the page declares or shows; None: not there.

    In this order: JSON-LD and meta tags, a time near the element of the title (None: unknown), the address. A time to
    come counts where there is no other.
    """
    near, far = _times(page.tree, title)
    written = [
        page.published,
        *(content for name, content in page.metas if name in _PUBLISHED),
        *near,
        *("-".join(match.groups()) for link in page.addresses for match in _DAY_IN_PATH.finditer(link)),
        *far,
    ]
    moments = list(_moments(written))
    latest = datetime.now(timezone.utc) + timedelta(days=1)
    moment = next((moment for moment in moments if moment <= latest), moments[0] if moments else None)
    return moment.isoformat() if moment else None


def _moments(written: Iterable[str]) -> Iterator[datetime]:
    for text in written:
        year, *rest = text.split("-")
        if len(rest) == 2 and all(part.isdecimal() and len(part) < 3 for part in rest):
            text = f"{year}-{rest[0]:>02}-{rest[1]:>02}"
        try:
            moment = parse_date(text)
        except ValueError:
            continue
        if moment > _UNKNOWN:
            yield moment


def _times(tree: Any, title: Any) -> tuple[list[str], list[str]]:
    """The times in the head of the article, those behind its title first; and those behind its text."""
    marked: list[str] = []
    behind: list[str] = []
    before: list[str] = []
    far: list[str] = []
    passed, paragraphs = title is None, 0
    for element in tree.iter():
        passed = passed or element is title
        if not isinstance(element.tag, str):
            continue
        paragraphs += passed and element.tag == "p" and len(text_of(element).split()) > _SHORT_LINE
        name = (element.get("itemprop") or "").lower()
        if element.tag != "time" and name != "datepublished" and not _is_hatom(element):
            continue
        around = (element, element.getparent())
        labels = [f"{up.get('class') or ''} {up.get('itemprop') or ''}" for up in around if up is not None]
        labels += [_words_before(element), text_of(element)]
        if any(map(_CHANGED.search, labels)) or _is_elsewhere(element, title):
            continue
        is_marked = name == "datepublished" or element.get("pubdate") is not None
        times = marked if is_marked else before if not passed else behind if paragraphs < 2 else far
        values = [element.get("datetime"), element.get("content"), element.get("title"), text_of(element)]
        times += [value.strip() for value in values if value and value.strip()][:2]
    return [*marked, *behind, *before], far


def _words_before(element: Any) -> str:
    """The label right before a time, such as `Last updated:`; empty if there is none."""
    before = element.getprevious()
    if before is None:
        parent = element.getparent()
        label = "" if parent is None else parent.text or ""
    else:
        label = before.tail or ""
        if not label.strip(" :\n\t") and before.tag not in ("time", "p", "h1", "h2"):
            label = text_of(before)
    return " ".join(label.split()[-_LABEL_WORDS:])


def _is_hatom(element: Any) -> bool:
    return element.tag in ("abbr", "span") and "published" in (element.get("class") or "").split()


def _is_elsewhere(element: Any, title: Any) -> bool:
    """Whether a time is one in the text, of another story, of a video, or of the site's head."""
    if any(up.tag == "a" or is_update(up) for up in element.iterancestors()):
        return True
    holders = set() if title is None else set(title.iterancestors())
    for up in element.iterancestors():
        if up in holders:
            return False
        if up.tag in ("p", "li", "blockquote", "td") and len(text_of(up).split()) > _LONGEST_LINE:
            return True
        if up.tag in _ELSEWHERE or (up.tag != "header" and _is_other_story(up)):
            return True
    return False


def _is_other_story(element: Any) -> bool:
    if element.tag in ("html", "body", "main"):
        return False
    if element.tag in ("article", "li", "div", "section"):
        headings = (heading for tag in ("h2", "h3", "h4") for heading in element.iter(tag))
        if any(not is_here(link.get("href")) for heading in headings for link in heading.iter("a")):
            return True
    return bool(_OTHER_STORY.search(class_and_id(element)))


def drop_other_stories(tree: Any, heading: Any) -> None:
    """Remove from a page what is of other stories, of videos and of the site, but not the heading (None: unknown)."""
    spared = set() if heading is None else {heading, *heading.iterancestors()}
    body = next(iter(tree.iter("body")), None)
    for element in list(body.iter()) if body is not None else ():
        if element in spared or not isinstance(element.tag, str) or element.getparent() is None:
            continue
        if element.tag in _ELSEWHERE or (element.tag != "header" and _is_other_story(element)):
            element.drop_tree()
