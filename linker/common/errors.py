"""Errors about the user's input, not the code.

The command line shows the message of any `LinkerError` as it is, without a traceback, and exits with 2.
A message therefore names the file, line or config path, what is wrong there, and what to do about it.
"""

from types import TracebackType


class LinkerError(Exception):
    """Invalid input, with a message that says what to do."""


class ConfigError(LinkerError):
    """A config that cannot be read or does not fit the components it names."""


class DataError(LinkerError):
    """Articles, posts or vector files that cannot be read."""


class ModelError(LinkerError):
    """A model folder that is missing, damaged or made by something else."""


class FetchError(LinkerError):
    """An article page that cannot be fetched or holds no article."""


class StubError(FetchError):
    """A page or file whose text is too little to be the article; a caller may insist on using it."""


class RefusedError(LinkerError):
    """An action of an annotator that is refused however often it is sent."""


class Faults:
    """Collects the errors of several checks, so that one message reports all of them.

    `with faults: check()` keeps a `LinkerError` and continues after the block; any other error
    propagates.

    Attributes:
        errors: errors collected so far.
    """

    def __init__(self) -> None:
        self.errors: list[LinkerError] = []

    @property
    def messages(self) -> list[str]:
        """The messages of the errors, each once."""
        return list(dict.fromkeys(map(str, self.errors)))

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if not isinstance(error, LinkerError):
            return False
        self.errors.append(error)
        return True

    def raise_if_any(self) -> None:
        """Raise the error that was collected; of several, one with all their messages.

        Raises:
            LinkerError: if any error was collected.
        """
        messages = self.messages
        if len(messages) == 1:
            raise self.errors[0]
        if messages:
            lines = "".join("\n  " + message.replace("\n", "\n  ") for message in messages)
            raise LinkerError(f"{len(messages)} problems:{lines}")
