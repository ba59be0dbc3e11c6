"""Texts with a topic and a class, as TACO has them: each is related to all of its class."""

from __future__ import annotations

from collections import defaultdict

from linker.data.io.columns import Columns, PostColumns
from linker.data.io.fields import id_of, label_of, text_of
from linker.data.io.line_errors import BadLines, LineError, OnError
from linker.data.io.records import empty_input_error, iter_posts, iter_records
from linker.data.io.rows import Row
from linker.data.readers.reader import PairReader
from linker.data.types import Article, LinkedPosts, Post


class LabelColumns(Columns):
    """Columns of a file of labels; `text` is read where no other file has the texts, `id: null` counts lines."""

    required = ("id", "label")
    any_of = ("label",)

    def __init__(
        self,
        id: str | None = "tweet_id",
        topic: str | None = "topic",
        label: str = "class",
        text: str | list[str] | None = "text",
        split: str | None = "split",
    ) -> None:
        self.id, self.topic, self.label, self.text, self.split = id, topic, label, text, split


class LabelledColumns:
    """Columns of the labels' files and of the texts' files."""

    def __init__(self, labels: LabelColumns | None = None, texts: PostColumns | None = None) -> None:
        self.labels, self.texts = labels or LabelColumns(), texts or PostColumns()


@PairReader.register("labelled_texts")
class LabelledTexts(PairReader):
    """Reads labels, and the texts they are about from the same or from other files.

    Every text is an article and a post with the same id. A post is about all articles of its class, itself among
    them; all posts of a class share one tuple of ids. `extra` has `topic` and `class`, and `story` of the article is
    the topic.

    Args:
        labels: file or files with `tweet_id, topic, class`.
        texts: file or files with `id, text`; null: the labels' files have a column `text`. Texts without a label
            are left out.
        classes: the labels there are, by default those of TACO; null: whatever comes up.
        columns: what the columns are called there.
        on_error: "strict" refuses files with bad lines and labels without a text, "skip" sets these lines aside.
        errors_dir: where "skip" writes `<file>.errors.jsonl`.
    """

    def __init__(
        self,
        labels: str | list[str],
        texts: str | list[str] | None = None,
        classes: list[str] | None = ["Reason", "Statement", "Notification", "None"],  # noqa: B006
        columns: LabelledColumns | None = None,
        on_error: OnError = "strict",
        errors_dir: str = ".",
    ) -> None:
        self.labels, self.texts, self.classes = labels, texts, classes
        self.columns = columns or LabelledColumns()
        self.on_error, self.errors_dir = on_error, errors_dir

    def read(self) -> LinkedPosts:
        """All labelled texts, in the order of the labels.

        Raises:
            DataError: bad lines in strict mode, an unreadable file, or not one labelled text.
        """
        with BadLines(self.on_error, self.errors_dir) as bad_lines:
            texts: dict[str, str] | None = None
            if self.texts is not None:
                texts = {post.id: post.text for post in iter_posts(self.texts, self.columns.texts, bad_lines)}

            def take(row: Row, columns: Columns, number: str) -> Post:
                return self._labelled(row, columns, number, texts)

            found = list(iter_records(self.labels, self.columns.labels, bad_lines, take))
        if not found:
            raise empty_input_error(self.labels, "labelled text")
        members = defaultdict(list)
        for post in found:
            members[post.extra["class"]].append(post.id)
        related = {name: tuple(ids) for name, ids in members.items()}
        articles = [Article(p.id, p.text, story=p.extra["topic"], split=p.split) for p in found]
        posts = [Post(p.id, p.text, related[p.extra["class"]], split=p.split, extra=p.extra) for p in found]
        return LinkedPosts(articles, posts)

    def _labelled(self, row: Row, columns: Columns, number: str, texts: dict[str, str] | None) -> Post:
        values = row.values
        own = id_of(values, columns) if columns.names("id") else number
        label = id_of(values, columns, "label")
        if self.classes is not None and label not in self.classes:
            raise LineError("unknown class", f"{label} (there are: {', '.join(self.classes)})")
        if texts is None:
            text = text_of(values, columns, "text")
            if not text:
                raise LineError("missing text", f"of {own}: name its column, or give files of `texts`")
        elif own not in texts:
            raise LineError("missing text", f"of {own}")
        else:
            text = texts[own]
        extra = {"topic": label_of(values, columns, "topic"), "class": label}
        return Post(own, text, split=label_of(values, columns, "split"), extra=extra)
