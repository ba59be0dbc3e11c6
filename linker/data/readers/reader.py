"""Base class of dataset readers."""

from typing import ClassVar

from linker.config import Registrable
from linker.data.types import LinkedPosts


class PairReader(Registrable):
    """Reads articles and the posts that discuss them.

    Attributes:
        inputs: the parameters that name files, which `linker train --data` looks for in a folder.
    """

    inputs: ClassVar[tuple[str, ...]] = ()

    def read(self) -> LinkedPosts:
        """Return all articles and posts, in file order.

        Raises:
            DataError: if the data are faulty; the message names file and line.
        """
        raise NotImplementedError
