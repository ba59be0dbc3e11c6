"""What everything is about: articles, posts, and which post talks about which article."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

#: The fields that a post's language is read from, the first that holds text.
LANGUAGE_FIELDS = ("lang", "language")


@dataclass(frozen=True, slots=True)
class Article:
    """A news article. `title` or `text` may be empty, not both."""

    id: str
    text: str
    title: str = ""
    url: str | None = None
    published: datetime | None = None
    story: str | None = None
    split: str | None = None

    @property
    def full_text(self) -> str:
        """Title and text, as encoders and lexical models read them."""
        return f"{self.title}\n\n{self.text}" if self.title and self.text else self.title or self.text


@dataclass(frozen=True, slots=True)
class Post:
    """A social-media post; `article_ids` are the articles it talks about, empty where unknown or none."""

    id: str
    text: str
    article_ids: tuple[str, ...] = ()
    created_at: datetime | None = None
    split: str | None = None
    extra: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def language(self) -> str | None:
        """The language as the source spells it, from the field `lang` or `language`; None if neither holds text."""
        for name in LANGUAGE_FIELDS:
            if isinstance(value := self.extra.get(name), str):
                return value
        return None


@dataclass(frozen=True)
class LinkedPosts:
    """Articles and posts with their links: what readers give and what training and evaluation take."""

    articles: list[Article]
    posts: list[Post]

    def relevance(self) -> np.ndarray:
        """Boolean array, articles × posts: does the post talk about the article?"""
        row = {article.id: i for i, article in enumerate(self.articles)}
        links = np.zeros((len(self.articles), len(self.posts)), dtype=bool)
        for j, post in enumerate(self.posts):
            for article_id in post.article_ids:
                if article_id in row:
                    links[row[article_id], j] = True
        return links
