"""Reader for files with an article and a post on every line."""

from dataclasses import replace
from typing import NamedTuple

from linker.common.errors import DataError
from linker.data.files.line_errors import BadLines, LineError, OnError
from linker.data.identity import ContentIds
from linker.data.io.columns import Columns, SingleFileColumns
from linker.data.io.fields import Values, date_of, id_of, label_of, required_text, text_of
from linker.data.io.records import empty_input_error, identified, iter_records, shown_names
from linker.data.labels.links import RowLabels
from linker.data.readers.reader import PairReader
from linker.data.types import Article, LinkedPosts, Post


class _Pair(NamedTuple):
    id: str
    article: Article | None
    post: Post


@PairReader.register("single_file")
class SingleFile(PairReader):
    """Reads files with `url, article, text` on each line: a post and the article that it discusses.

    Articles are identified by their URLs, which are also their ids. Later lines may leave the article's text empty. A
    line without url and article is a post about none of the articles. Where there is a column of labels, such as
    `label`, only lines labeled relevant are links.

    Args:
        files: file or files.
        columns: names of the columns in the files.
        on_error: "strict" refuses files with bad lines, "skip" sets these lines aside.
    """

    inputs = ("files",)

    def __init__(
        self, files: str | list[str], columns: SingleFileColumns | None = None, on_error: OnError = "strict"
    ) -> None:
        self.files, self.columns = files, columns or SingleFileColumns()
        self.on_error = on_error

    def read(self) -> LinkedPosts:
        """Return all articles and posts, in file order.

        Raises:
            DataError: if a file is unreadable or has bad lines (in strict mode), or there is no link.
        """
        articles: dict[str, Article] = {}
        posts = []

        labels = RowLabels(shown_names(self.files))

        def parse(values: Values, columns: Columns, source: str, ids: ContentIds | None) -> _Pair:
            post = _post(values, columns, source, ids)
            article = _article(values, columns, articles) if post.article_ids else None
            return _Pair(post.id, article, labels.take(post))

        with BadLines(self.on_error) as bad_lines:
            for pair in iter_records(self.files, self.columns, bad_lines, parse):
                if pair.article is not None:
                    articles[pair.article.id] = pair.article
                posts.append(pair.post)
        if not articles:
            raise DataError(f"{empty_input_error(self.files, 'post with an article')}")
        return LinkedPosts(list(articles.values()), labels.linked(posts, list(articles.values())))


def _post(values: Values, columns: Columns, source: str, ids: ContentIds | None) -> Post:
    url = label_of(values, columns, "url")
    if url is None and text_of(values, columns, "article"):
        id_of(values, columns, "url")
    taken = columns.all_names()
    post = Post(
        id=id_of(values, columns) if columns.names("id") else "",
        **required_text(values, columns),
        article_ids=(url,) if url else (),
        created_at=date_of(values, columns, "created_at"),
        split=label_of(values, columns, "split"),
        extra={name: value for name, value in values.items() if name not in taken},
        source=source,
    )
    return post if post.id else identified(post, ids)


def _article(values: Values, columns: Columns, seen: dict[str, Article]) -> Article:
    """The article of a line, which must not contradict earlier lines."""
    url = id_of(values, columns, "url")
    values_here = {
        "title": text_of(values, columns, "title"),
        "text": text_of(values, columns, "article"),
        "published": date_of(values, columns, "published"),
        "story": label_of(values, columns, "story"),
    }
    split = label_of(values, columns, "split")
    if url not in seen:
        if not values_here["title"] and not values_here["text"]:
            raise LineError("empty text", f"the article {url} has neither title nor text")
        return Article(id=url, url=url, split=split, **values_here)  # type: ignore[arg-type]
    known = seen[url]
    for name, value in values_here.items():
        if value and value != getattr(known, name):
            raise LineError(
                "contradiction", f"the {name} of the article {url} differs from that of an earlier line"
            )
    # An article with posts in several splits has none.
    return known if split == known.split else replace(known, split=None)
