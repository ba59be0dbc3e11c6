"""Base class of dataset readers."""

from __future__ import annotations

from linker.config import Registrable
from linker.data.types import LinkedPosts


class PairReader(Registrable):
    """Reads articles and the posts that discuss them."""

    def read(self) -> LinkedPosts:
        """Return all articles and posts, in file order.

        Raises:
            DataError: if the data are faulty; the message names file and line.
        """
        raise NotImplementedError
