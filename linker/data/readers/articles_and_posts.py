"""Reader for articles and posts in separate files."""

from dataclasses import replace

from linker.common.errors import DataError
from linker.data.files.line_errors import BadLines, OnError
from linker.data.io.columns import PairColumns
from linker.data.io.records import (
    article_from_row,
    empty_input_error,
    iter_posts,
    iter_records,
    shown_names,
)
from linker.data.labels.links import RowLabels, linked_by
from linker.data.labels.reading import read_labels
from linker.data.readers.reader import PairReader
from linker.data.types import LinkedPosts, Post


@PairReader.register("articles_and_posts")
class ArticlesAndPosts(PairReader):
    """Reads articles and posts from separate files; a post without an article id discusses none of them.

    Where the posts have a column of labels, such as `label` in an export of labels, the label decides: a post labeled
    relevant discusses the article that its article id names, others do not.

    Args:
        articles: file or files of articles.
        posts: file or files of posts.
        labels: file of labels, in any format; they alone decide which posts discuss an article. None: those of the
            posts.
        columns: names of the columns in the files.
        on_error: "strict" refuses files with bad lines, "skip" sets these lines aside.
    """

    inputs = ("articles", "posts")

    def __init__(
        self,
        articles: str | list[str],
        posts: str | list[str],
        columns: PairColumns | None = None,
        on_error: OnError = "strict",
        labels: str | None = None,
    ) -> None:
        self.articles, self.posts, self.labels = articles, posts, labels
        self.columns = columns or PairColumns()
        self.on_error = on_error

    def read(self) -> LinkedPosts:
        """Return all articles and posts, in file order.

        Raises:
            DataError: if a file is unreadable or has bad lines (in strict mode), or articles or links are missing.
        """
        with BadLines(self.on_error) as bad_lines:
            found = iter_records(self.articles, self.columns.articles, bad_lines, article_from_row)
            articles = list(found)
            in_rows = RowLabels(shown_names(self.posts))
            if self.labels is None:
                known = {article.id for article in articles}
                posts = list(iter_posts(self.posts, self.columns.posts, bad_lines, known, in_rows.take))
            else:  # links in the posts do not count, so that a post may be there with several

                def without_links(post: Post) -> Post:
                    return replace(post, article_ids=())

                posts = list(iter_posts(self.posts, self.columns.posts, bad_lines, None, without_links))
        if not articles:
            raise empty_input_error(self.articles, "article")
        if self.labels is not None:
            posts = linked_by(read_labels(self.labels), posts, articles)
        else:
            posts = in_rows.linked(posts, articles)
        if not any(post.article_ids for post in posts):
            if self.labels or in_rows:
                raise DataError(
                    f"{self.labels or in_rows.shown}: no post is labeled relevant; label some posts of these articles"
                )
            raise DataError(
                f"{empty_input_error(self.posts, 'post with an article id')}; "
                'if the column has another name, set it: {"columns": {"posts": {"article_id": "…"}}}'
            )
        return LinkedPosts(articles, posts)
