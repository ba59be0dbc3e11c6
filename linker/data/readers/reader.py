"""The family of readers of article–post pairs."""

from __future__ import annotations

from linker.config import Registrable
from linker.data.types import LinkedPosts


class PairReader(Registrable):
    """Reads articles and the posts that talk about them."""

    def read(self) -> LinkedPosts:
        """All articles and posts, in file order.

        Raises:
            DataError: naming file and line of what is wrong.
        """
        raise NotImplementedError
