"""Identity of a post: an id made from its content, for posts that have none."""

import re
import unicodedata
from base64 import b32encode
from collections import Counter
from collections.abc import Container
from datetime import datetime, timedelta, timezone
from hashlib import blake2b

from linker.data.platforms.platform import hashed
from linker.data.types import Post

#: A pseudonym of an author, see `hashed`. 16 decimal digits are rather the number of an account, as on Facebook.
_PSEUDONYM = re.compile(r"(?!\d{16})[0-9a-f]{16}")
#: Content ids: the letters and digits, and the number of an exact repeat.
CONTENT_ID = re.compile(r"(p[a-z2-7]{16})(?:-([1-9]\d{0,8}))?")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def content_id(platform: str | None, author: str | None, created_at: datetime | None, text: str) -> str:
    """Return the id of a post without one: `p` and 16 letters and digits, a hash of what the post is.

    It is the same in every file, format, folder and order. It begins with a letter, so that no program takes it for a
    number.

    Args:
        platform: name of the platform's format; None: unknown.
        author: the author, plain or as the pseudonym that `hashed` returns; None: unknown.
        created_at: time of posting; counts to the second. Without a time zone it is in UTC. None: unknown.
        text: plain text; how its white space, line ends and accents are encoded does not count.
    """
    fields = [(platform or "").strip().lower(), pseudonym(author), second(created_at), normal_text(text)]
    # Lengths keep the fields apart, whatever characters they have.
    joined = "".join(f"{len(field)}:{field}" for field in fields)
    # 80 bits: two of a billion posts have the same id with a probability of 1 to 2 million.
    digest = blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=10).digest()
    return "p" + b32encode(digest).decode().lower()


def content_id_of(post: Post) -> str:
    """Return the content id of a post, whether or not it is its id."""
    return content_id(platform_of(post), author_of(post), post.created_at, post.text)


def platform_of(post: Post) -> str:
    """Return the platform of a post; empty if unknown."""
    return _field(post, "platform")


def author_of(post: Post) -> str:
    """Return the author of a post, plain or as pseudonym; empty if unknown."""
    return _field(post, "author")


def pseudonym(author: str | None) -> str:
    """Return the pseudonym of an author that is plain or one already; empty if unknown."""
    name = (author or "").strip()
    return name if not name or _PSEUDONYM.fullmatch(name) else hashed(name)


def second(time: datetime | None) -> str:
    """Return a time in seconds since 1970; empty if unknown. Without a time zone it is in UTC."""
    if time is None:
        return ""
    aware = time if time.tzinfo is not None else time.replace(tzinfo=timezone.utc)
    return str((aware - _EPOCH) // timedelta(seconds=1))


def _field(post: Post, name: str) -> str:
    value = post.extra.get(name)
    return value.strip() if isinstance(value, str) else str(value) if isinstance(value, int) else ""


class ContentIds:
    """Numbers exact repeats of posts in one input: the second post with a content id gets `-2` after it, and so on.

    Args:
        taken: ids of the posts so far; the caller adds each id that it uses.
    """

    def __init__(self, taken: Container[str] = ()) -> None:
        self._taken = taken
        self._repeats: Counter[str] = Counter()

    def numbered(self, made: str) -> str:
        """Return a content id, numbered if it is taken."""
        id_ = made
        while id_ in self._taken:
            self._repeats[made] += 1
            id_ = repeated(made, self._repeats[made] + 1)
        return id_


def repeated(made: str, number: int) -> str:
    """Return the id of an exact repeat, `number` from 2, of the post with a content id."""
    return f"{made}-{number}"


def normal_text(text: str) -> str:
    """Return a text as it is in every file format: composed accents (NFC), single spaces for white space."""
    return " ".join(unicodedata.normalize("NFC", text).split())
