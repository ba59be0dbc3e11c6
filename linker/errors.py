"""What linker raises when the input, not the code, is wrong.

The command line shows the message of any `LinkerError` as it is, without a traceback, and exits with 2.
A message therefore names the file, line or config path, what is wrong there, and what to do about it.
"""


class LinkerError(Exception):
    """Wrong input, told in words that its sender can act on."""


class ConfigError(LinkerError):
    """A config that cannot be read or does not fit the components it names."""


class DataError(LinkerError):
    """Articles, posts or vector files that cannot be read."""


class ModelError(LinkerError):
    """A model folder that is missing, damaged or made by something else."""


class FetchError(LinkerError):
    """An article page that cannot be fetched or holds no article."""
