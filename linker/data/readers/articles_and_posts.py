"""Reader for articles and posts in separate files."""

from __future__ import annotations

from linker.common.errors import DataError
from linker.data.io.columns import PairColumns
from linker.data.io.line_errors import BadLines, OnError
from linker.data.io.records import empty_input_error, iter_articles, iter_posts
from linker.data.readers.reader import PairReader
from linker.data.types import LinkedPosts


@PairReader.register("articles_and_posts")
class ArticlesAndPosts(PairReader):
    """Reads articles and posts from separate files; a post without an article id discusses none of them.

    Args:
        articles: file or files of articles.
        posts: file or files of posts.
        columns: names of the columns in the files.
        on_error: "strict" refuses files with bad lines, "skip" sets these lines aside.
        errors_dir: folder for the `<file>.errors.jsonl` files of "skip"; None: beside the input.
    """

    def __init__(
        self,
        articles: str | list[str],
        posts: str | list[str],
        columns: PairColumns | None = None,
        on_error: OnError = "strict",
        errors_dir: str | None = None,
    ) -> None:
        self.articles, self.posts = articles, posts
        self.columns = columns or PairColumns()
        self.on_error, self.errors_dir = on_error, errors_dir

    def read(self) -> LinkedPosts:
        """Return all articles and posts, in file order.

        Raises:
            DataError: if a file is unreadable or has bad lines (in strict mode), or articles or links are missing.
        """
        with BadLines(self.on_error, self.errors_dir) as bad_lines:
            articles = list(iter_articles(self.articles, self.columns.articles, bad_lines))
            known = {article.id for article in articles}
            posts = list(iter_posts(self.posts, self.columns.posts, bad_lines, known))
        if not articles:
            raise empty_input_error(self.articles, "article")
        if not any(post.article_ids for post in posts):
            raise DataError(
                f"{empty_input_error(self.posts, 'post with an article id')}; "
                'if the column has another name, set it: {"columns": {"posts": {"article_id": "…"}}}'
            )
        return LinkedPosts(articles, posts)
