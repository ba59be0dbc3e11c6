"""The posts that labels belong to: found by id, then by content."""

from collections.abc import Sequence
from dataclasses import dataclass

from linker.common.console import info, warn
from linker.common.errors import DataError
from linker.data.identity import author_of, normal_text, platform_of, pseudonym, second
from linker.data.labels.records import ImportedLabel
from linker.data.types import Post

#: Above this share of labels that match no post, the line on them is a warning.
_FEW = 0.05
_SHOWN = 3


@dataclass(frozen=True)
class Matches:
    """The posts of some labels.

    Attributes:
        records: the labels.
        post_ids: the id of each label's post; None: no post matches.
        by_content: number of labels that were matched by content, because no post has their id.
        other_text: number of labels with the id of a post, but another text.
    """

    records: Sequence[ImportedLabel]
    post_ids: list[str | None]
    by_content: int
    other_text: int

    @property
    def unmatched(self) -> list[ImportedLabel]:
        """The labels that match no post."""
        return [record for record, post_id in zip(self.records, self.post_ids) if post_id is None]

    def report(self, shown: str) -> None:
        """Print what did not match by id; more than 5 % of labels without a post are a warning.

        Args:
            shown: name of the file of labels in messages.

        Raises:
            DataError: if no label matches a post.
        """
        total, missing = len(self.records), self.unmatched
        texts = [(record.post_id, normal_text(record.text or "")) for record in missing[:_SHOWN]]
        named = [f"{id_} “{text[:30]}{'…' * (len(text) > 30)}”" if text else id_ for id_, text in texts]
        examples = ", ".join(dict.fromkeys(named))
        if missing and len(missing) == total:
            raise DataError(
                f"{shown}: none of {total:,} labels belongs to a post, neither by id nor by text (such as {examples}); "
                "give the posts that were labeled, or labels with the ids or texts of these posts"
            )
        if missing:
            line = f"{shown}: {len(missing):,} of {total:,} labels match no post and are left out (such as {examples})"
            if len(missing) > _FEW * total:
                warn(f"{line}; check that these are the posts that were labeled")
            else:
                info(line)
        if self.by_content:
            info(
                f"{shown}: {self.by_content:,} of {total:,} labels matched by text, since no post has their id"
            )
        if self.other_text > _FEW * total:
            warn(
                f"{shown}: {self.other_text:,} of {total:,} labels have the id of a post with another text; "
                "check that these are the posts that were labeled"
            )


def match_labels(posts: Sequence[Post], records: Sequence[ImportedLabel]) -> Matches:
    """Find the post of each label: that with its id, else that with its content.

    Contents match if the texts are equal, and platform, author and time where both are known. Of several posts that
    match, labels with different ids get different ones, in order.
    """
    by_id = {post.id: post for post in posts}
    by_text: dict[str, list[Post]] = {}
    if any(record.text and record.post_id not in by_id for record in records):
        for candidate in posts:
            by_text.setdefault(normal_text(candidate.text), []).append(candidate)
    taken = by_id.keys() & {record.post_id for record in records}
    by_content: dict[tuple[object, ...], str | None] = {}
    post_ids: list[str | None] = []
    other_text = 0
    for record in records:
        if (post := by_id.get(record.post_id)) is not None:
            other_text += bool(record.text and not _same_text(record.text, post.text))
            post_ids.append(post.id)
            continue
        text, author = normal_text(record.text or ""), pseudonym(record.author)
        key = (record.post_id, text, author, record.platform, second(record.created_at))
        if key not in by_content:
            same = by_text.get(text, ()) if record.text else ()
            ids = [other.id for other in same if _agrees(record, author, other)]
            free = [id_ for id_ in ids if id_ not in taken][:1]
            by_content[key] = next(iter(free or ids), None)
            taken.update(free)
        post_ids.append(by_content[key])
    found = sum(
        post_id is not None and post_id != record.post_id for record, post_id in zip(records, post_ids)
    )
    return Matches(records, post_ids, found, other_text)


def _agrees(record: ImportedLabel, author: str, post: Post) -> bool:
    pairs = (
        ((record.platform or "").strip().lower(), platform_of(post).lower()),
        (author, pseudonym(author_of(post))),
        (second(record.created_at), second(post.created_at)),
    )
    return all(not of_label or not of_post or of_label == of_post for of_label, of_post in pairs)


def _same_text(text: str, other: str) -> bool:
    """Whether texts are equal, or one is the beginning of the other, as some programs cut texts off."""
    text, other = normal_text(text), normal_text(other)
    return text.startswith(other) or other.startswith(text.removesuffix("…").removesuffix("..."))
