"""Posts of one run with the articles that they link to, and which of them are dropped."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from linker.data.links.link_key import host_of
from linker.data.types import Post
from linker.mining.linked_post import SHORTENED, Link, bare_id
from linker.mining.options import MiningOptions

_DAY = 86_400
#: Fewer links of an author say nothing about the share of one site.
FEW_LINKS = 10


@dataclass(slots=True, eq=False)
class LinkedArticle:
    """An article that posts link to; times are in seconds since 1970.

    Attributes:
        key: key of its link.
        url: its address; of several, the first in order.
        shortened: whether the link is shortened, so that the article is unknown.
        cards: title and description of the posts' link cards, with the number of posts.
        source: where title and text are from: `given`, `card` or, if there are none, empty.
    """

    key: str
    url: str
    shortened: bool
    cards: Counter[tuple[str, str]] = field(default_factory=Counter)
    title: str = ""
    text: str = ""
    published: float | None = None
    source: str = ""
    story: str = ""
    split: str = ""


@dataclass(slots=True, eq=False)
class LinkedPost:
    """A post of one article; None: the post is a comment on the post `thread`, which has the link."""

    id: str
    text: str
    lang: str | None
    url: str | None
    author: str | None
    time: float | None
    thread: str
    article: LinkedArticle | None


class Links:
    """The posts that are kept so far, in the order in which they were read, and all articles by their keys.

    Attributes:
        fates: number of posts that were dropped, by reason, in the order of the filters.
        unresolved: number of dropped posts by the shortened link.
    """

    def __init__(self) -> None:
        self.posts: list[LinkedPost] = []
        self.articles: dict[str, LinkedArticle] = {}
        self.fates: Counter[str] = Counter()
        self.unresolved: Counter[LinkedArticle] = Counter()
        self._redirects: dict[LinkedArticle, LinkedArticle] = {}

    def add(self, post: Post, link: Link) -> None:
        """Add a post and its link."""
        article = self._article(link.key, link.url, link.shortened) if link.key else None
        if article is not None and (link.title or link.description):
            article.cards[link.title, link.description] += 1
        author, url = (
            value if isinstance(value, str) and value else None
            for value in map(post.extra.get, ("author", "url"))
        )
        time = post.created_at.timestamp() if post.created_at else None
        self.posts.append(
            LinkedPost(post.id, post.text, post.language, url, author, time, link.thread, article)
        )

    def _article(self, key: str, url: str, shortened: bool) -> LinkedArticle:
        article = self.articles.setdefault(key, LinkedArticle(key, url, shortened))
        article.url = min(article.url, url)
        return article

    def drop(self, fate: str, is_dropped: Callable[[LinkedPost], bool]) -> None:
        """Drop posts, and count them."""
        kept = [post for post in self.posts if not is_dropped(post)]
        self.fates[fate] += len(self.posts) - len(kept)
        self.posts = kept

    def drop_repeated(self) -> None:
        """Drop posts whose id an earlier one has: streams deliver some twice."""
        first = {post.id: post for post in reversed(self.posts)}
        self.drop("met again", lambda post: post is not first[post.id])

    def add_redirect(self, short: str, key: str, url: str) -> None:
        """Remember the article that a shortened link leads to, by their keys; not if no post has the link."""
        source = self.articles.get(short)
        if source is not None and source.shortened:
            self._redirects[source] = self._article(key, url, False)

    def follow_redirects(self) -> None:
        """Give posts with nothing but a shortened link the article that it leads to; drop those where it is unknown."""
        for source, article in self._redirects.items():
            article.cards += source.cards
            source.cards.clear()
        for post in self.posts:
            if post.article is not None:
                post.article = self._redirects.get(post.article, post.article)
        short = [post.article for post in self.posts if post.article and post.article.shortened]
        self.unresolved.update(short)
        self.drop(SHORTENED, lambda post: post.article is not None and post.article.shortened)

    def resolve_threads(self) -> None:
        """Give comments the article of the post that they answer; drop the others."""
        of_thread: dict[str, LinkedArticle] = {}
        for post in self.posts:
            if post.article is not None:
                of_thread.setdefault(bare_id(post.id), post.article)
        for post in self.posts:
            if post.thread:
                post.article = of_thread.get(post.thread)
        self.drop("comments on posts without an article", lambda post: post.article is None)

    def drop_bots(self, options: MiningOptions) -> None:
        """Drop all posts of authors with too many links a day, or with nearly all links to one site."""
        of_day: Counter[tuple[str, int]] = Counter()
        of_author: dict[str, Counter[str]] = {}
        of_site: Counter[str] = Counter()
        for post in self.posts:
            if post.author and not post.thread and post.article is not None:
                host = host_of(post.article.key)
                of_author.setdefault(post.author, Counter())[host] += 1
                of_site[host] += 1
                if post.time is not None:
                    of_day[post.author, int(post.time / _DAY)] += 1
        many = {author for (author, _), count in of_day.items() if count > options.max_links_a_day}
        self.drop("by authors with too many links a day", lambda post: post.author in many)
        # In posts that were collected by their links to one site, its share says nothing of an author.
        collected = {host for host, count in of_site.items() if 2 * count > of_site.total()}
        single = set()
        for author, sites in of_author.items():
            [(host, most)], links = sites.most_common(1), sites.total()
            if links >= FEW_LINKS and most > options.max_site_share * links and host not in collected:
                single.add(author)
        self.drop("by authors with one site", lambda post: post.author in single)
