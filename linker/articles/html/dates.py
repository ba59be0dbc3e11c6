"""The date on which the article of a page was published."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from linker.articles.html.blocks import class_and_id, key_of, named, text_of
from linker.articles.html.metadata import Metadata, is_here, is_update
from linker.common.files import read_word_lists
from linker.data.io.dates import parse_date

_TIMES = read_word_lists(Path(__file__).with_name("published.ini"))
_PUBLISHED = frozenset(_TIMES["meta"])
_CHANGED = re.compile("|".join(_TIMES["changed"]), re.IGNORECASE)
# Words before a time that say what it is the time of, at most.
_LABEL_WORDS = 4
# Words of a line with the author and the date, at most; and of a line that is not of the text.
_LONGEST_LINE, _SHORT_LINE = 25, 12
_DAY_IN_PATH = re.compile(
    r"(?<!\d)(20\d\d|19[89]\d)[/_-]?(0[1-9]|1[0-2]|[1-9](?=[/_-])|(?<=/)[a-z]{3}(?=/))[/_-]?(0[1-9]|[12]\d|3[01])(?!\d)"
)
# What programs write for a time that they do not know.
_UNKNOWN = datetime(1970, 1, 2, tzinfo=timezone.utc)
_HEADINGS = ("h1", "h2", "h3")
_ELSEWHERE = ("aside", "nav", "footer", "figure", "video")
_OTHER_STORY = named("other stories")


def date_of(page: Metadata, heading: Any) -> str | None:
    """Return when the article was published, in ISO 8601, by what the page declares or shows; None: not there.

    In this order: JSON-LD and meta tags, a time near the heading (None: unknown), the address. A time to come counts
    where there is no other. Removes other stories from the page.
    """
    later: list[datetime] = []
    latest = datetime.now(timezone.utc) + timedelta(days=1)
    for written in _written(page, heading):
        year, *rest = written.split("-")
        if len(rest) == 2 and all(part.isdecimal() and len(part) < 3 for part in rest):
            written = f"{year}-{rest[0]:>02}-{rest[1]:>02}"
        try:
            moment = parse_date(written)
        except ValueError:
            continue
        if _UNKNOWN < moment <= latest:
            return moment.isoformat()
        later += [moment] if moment > latest else []
    return later[0].isoformat() if later else None


def _written(page: Metadata, heading: Any) -> Iterator[str]:
    """Yield dates as they are written, the most likely first."""
    yield page.published
    yield from (content for name, content in page.metas if name in _PUBLISHED)
    _drop_other_stories(page.tree, heading)
    near, far = _times(page.tree, heading)
    yield from near
    yield from ("-".join(match.groups()) for link in page.addresses for match in _DAY_IN_PATH.finditer(link))
    yield from far


def _times(tree: Any, heading: Any) -> tuple[list[str], list[str]]:
    """The times in the head of the article, marked ones and those behind the heading first; and those in its text."""
    times: list[list[str]] = [[], [], [], []]
    passed, paragraphs = heading is None, 0
    for element in tree.iter("*"):
        passed = passed or element is heading
        paragraphs += passed and element.tag == "p" and len(text_of(element).split()) > _SHORT_LINE
        name = (element.get("itemprop") or "").lower()
        if element.tag != "time" and name != "datepublished":
            continue
        around = (element, element.getparent())
        labels = [f"{up.get('class') or ''} {up.get('itemprop') or ''}" for up in around if up is not None]
        labels += [_words_before(element), text_of(element)]
        if any(map(_CHANGED.search, labels)) or any(map(_is_of_text, element.iterancestors())):
            continue
        is_marked = name == "datepublished" or element.get("pubdate") is not None
        rank = 0 if is_marked else 2 if not passed else 1 if paragraphs < 2 else 3
        values = [element.get("datetime"), element.get("content"), element.get("title"), text_of(element)]
        times[rank] += [value.strip() for value in values if value and value.strip()][:2]
    return [*times[0], *times[1], *times[2]], times[3]


def _is_of_text(element: Any) -> bool:
    """Whether an element is a link, an update or a paragraph, whose times are not that of the article."""
    is_line = element.tag in ("p", "li", "blockquote", "td")
    return (
        element.tag == "a"
        or is_update(element)
        or (is_line and len(text_of(element).split()) > _LONGEST_LINE)
    )


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


def _is_other_story(element: Any) -> bool:
    if element.tag in ("html", "body", "main"):
        return False
    if element.tag in ("article", "li", "div", "section"):
        headings = (heading for tag in ("h2", "h3", "h4") for heading in element.iter(tag))
        if any(not is_here(link.get("href")) for heading in headings for link in heading.iter("a")):
            return True
    return bool(_OTHER_STORY.search(class_and_id(element)))


def _drop_other_stories(tree: Any, heading: Any) -> None:
    """Remove from a page what is of other stories, of videos and of the site, but not the heading (None: unknown)."""
    spared = set() if heading is None else {heading, *heading.iterancestors()}
    body = next(iter(tree.iter("body")), None)
    for element in list(body.iter()) if body is not None else ():
        if element in spared or not isinstance(element.tag, str) or element.getparent() is None:
            continue
        if element.tag in _ELSEWHERE or (element.tag != "header" and _is_other_story(element)):
            element.drop_tree()


def heading_with(tree: Any, title: str) -> Any:
    """Return the heading of a page that has this title; None if there is none."""
    key = key_of(title)
    for heading in (heading for tag in _HEADINGS for heading in tree.iter(tag)):
        other = key_of(text_of(heading))
        if other and key and (other in key or key in other) and len(other) > 0.5 * len(key):
            return heading
    return None
