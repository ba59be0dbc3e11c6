"""Articles, posts, and the links between them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from linker.data.characters import word_count

_LONGEST_TITLE = 120


@dataclass(frozen=True, slots=True)
class Article:
    """A news article; at least one of `title` and `text` is non-empty.

    Attributes:
        id: identifies the article among those read together; not empty.
        text: the body, plain text without HTML.
        title: the headline; may be empty.
        url: address of the article, if known.
        published: time of publication with its time zone (readers convert to UTC); None: unknown.
        story: name of the news story, shared by articles about the same events; None: unknown. Splitters keep the
            articles of a story together, and training can sample them as hard negatives.
        split: value of the column `split` (such as `train`, `dev`, `test`); None: not assigned.
        source: where the article was read, as shown to the user; empty: unknown. Ignored when articles are compared.
        language: ISO 639-1 code of its language as stated; None: that of the text, see `language_of`.
    """

    id: str
    text: str
    title: str = ""
    url: str | None = None
    published: datetime | None = None
    story: str | None = None
    split: str | None = None
    source: str = field(default="", compare=False)
    language: str | None = None

    @property
    def full_text(self) -> str:
        """Title and text, separated by a blank line, as models read them."""
        return f"{self.title}\n\n{self.text}" if self.title and self.text else self.title or self.text

    @property
    def words(self) -> int:
        """Number of words of title and text."""
        return word_count(self.full_text)

    @property
    def summary(self) -> str:
        """One line without control characters: title or beginning of the text, number of words, date, source."""
        title = " ".join((self.title or self.text).split())
        title = f"{title[:_LONGEST_TITLE]}..." if len(title) > _LONGEST_TITLE else title
        date = f"{self.published:%Y-%m-%d}" if self.published else "no date"
        line = f'"{title}", {self.words:,} words, {date}, {self.source}'
        return "".join(character if character.isprintable() else "?" for character in line)


@dataclass(frozen=True, slots=True)
class Post:
    """A social-media post.

    Attributes:
        id: identifies the post among those read together; not empty.
        text: plain text; readers convert HTML. Not empty when read from a file.
        article_ids: ids of the articles that the post discusses, each once; empty: none, or unknown.
        created_at: time of posting with its time zone (readers convert to UTC); None: unknown.
        split: value of the column `split`; None: that of the first article.
        extra: all other fields of the row, as read, such as the number of likes; ignored when posts are compared.
        source: where the post was read, `file:line`, for an absolute path the name; empty: unknown. Not compared.
    """

    id: str
    text: str
    article_ids: tuple[str, ...] = ()
    created_at: datetime | None = None
    split: str | None = None
    extra: dict[str, Any] = field(default_factory=dict, compare=False)
    source: str = field(default="", compare=False)

    @property
    def language(self) -> str | None:
        """The language as the source spells it, see `stated_language`."""
        return stated_language(self.extra)


@dataclass(frozen=True)
class LinkedPosts:
    """Articles and posts with their links: the output of readers, the input of training and evaluation.

    Attributes:
        articles: the articles, with distinct ids.
        posts: the posts, with distinct ids; a link to an article outside `articles` is ignored.
    """

    articles: list[Article]
    posts: list[Post]

    def relevance(self) -> np.ndarray:
        """Return the links as a matrix: bool, articles × posts, true where the post discusses the article."""
        row = {article.id: i for i, article in enumerate(self.articles)}
        links = np.zeros((len(self.articles), len(self.posts)), dtype=bool)
        for j, post in enumerate(self.posts):
            links[[row[i] for i in post.article_ids if i in row], j] = True
        return links


def stated_language(fields: Mapping[str, Any]) -> str | None:
    """Return the language as a source spells it, from `lang` or `language`, text or a list of one; None: none."""
    for name in ("lang", "language"):
        value = fields.get(name)
        if isinstance(value, list) and len(value) == 1:
            (value,) = value
        if isinstance(value, str) and value.strip():
            return value
    return None
