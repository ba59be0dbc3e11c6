"""Reader of texts labeled with a topic and a class, as in TACO; each is related to all of its class."""

from collections import defaultdict

from linker.data.files.line_errors import BadLines, LineError, OnError
from linker.data.identity import ContentIds
from linker.data.io.columns import Columns, PostColumns
from linker.data.io.fields import Values, id_of, label_of, text_of
from linker.data.io.records import empty_input_error, identified, iter_posts, iter_records
from linker.data.readers.reader import PairReader
from linker.data.types import Article, LinkedPosts, Post


class LabelColumns(Columns):
    """Columns of a file of labels; `text` is read if no other file has the texts, `id: null` makes ids from them."""

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


@PairReader.register("labeled_texts")
class LabeledTexts(PairReader):
    """Reader of labels, and of the labeled texts from the same or from other files.

    Each text becomes an article and a post with the same id. A post is about all articles of its class, itself
    included. `extra` has `topic` and `class`, and the article's `story` is
    the topic.

    Paper: Feger and Dietze 2024, https://aclanthology.org/2024.findings-naacl.146

    Args:
        labels: file or files with `tweet_id, topic, class`.
        texts: file or files with `id, text`; null: the files of labels have a column `text`. Texts without a label
            are left out.
        classes: valid classes, by default those of TACO; null accepts any.
        columns: column names of the files of labels.
        on_error: "strict" refuses files with invalid lines and labels without a text, "skip" sets these lines aside.
    """

    inputs = ("labels", "texts")

    def __init__(
        self,
        labels: str | list[str],
        texts: str | list[str] | None = None,
        classes: list[str] | None = ["Reason", "Statement", "Notification", "None"],  # noqa: B006
        columns: LabelColumns | None = None,
        on_error: OnError = "strict",
    ) -> None:
        self.labels, self.texts, self.classes = labels, texts, classes
        self.columns = columns or LabelColumns()
        self.on_error = on_error

    def read(self) -> LinkedPosts:
        """Return all labeled texts, in the order of the labels.

        Raises:
            DataError: for invalid lines in strict mode, an unreadable file, or if there is no labeled text.
        """
        with BadLines(self.on_error) as bad_lines:
            texts: dict[str, str] | None = None
            if self.texts is not None:
                texts = {post.id: post.text for post in iter_posts(self.texts, PostColumns(), bad_lines)}

            def take(values: Values, columns: Columns, source: str, ids: ContentIds | None) -> Post:
                post = self._labeled(values, columns, texts)
                return post if post.id else identified(post, ids)

            labeled = list(iter_records(self.labels, self.columns, bad_lines, take))
        if not labeled:
            raise empty_input_error(self.labels, "labeled text")
        members = defaultdict(list)
        for post in labeled:
            members[post.extra["class"]].append(post.id)
        related = {name: tuple(ids) for name, ids in members.items()}
        articles = [Article(p.id, p.text, story=p.extra["topic"], split=p.split) for p in labeled]
        posts = [Post(p.id, p.text, related[p.extra["class"]], split=p.split, extra=p.extra) for p in labeled]
        return LinkedPosts(articles, posts)

    def _labeled(self, values: Values, columns: Columns, texts: dict[str, str] | None) -> Post:
        text_id = id_of(values, columns) if columns.names("id") else ""
        label = id_of(values, columns, "label")
        if self.classes is not None and label not in self.classes:
            raise LineError("unknown class", f"{label} (known: {', '.join(self.classes)})")
        if texts is None:
            text = text_of(values, columns, "text")
            if not text:
                raise LineError("missing text", f"of {text_id}: name its column, or give files of `texts`")
        elif text_id not in texts:
            raise LineError("missing text", f"of {text_id}")
        else:
            text = texts[text_id]
        extra = {"topic": label_of(values, columns, "topic"), "class": label}
        # As a link, so that a repeated id with another class is a bad line.
        return Post(text_id, text, (label,), split=label_of(values, columns, "split"), extra=extra)
