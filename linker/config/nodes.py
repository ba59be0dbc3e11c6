"""A checked config: values that fit their types, ready to be written out or built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from linker.common.errors import ConfigError
from linker.config.registrable import Lazy
from linker.config.registry import catalogue
from linker.config.types import ClassSpec, Default


@dataclass
class Leaf:
    """A plain value; `convert` makes the object of it (a `Path` of a string)."""

    value: Any
    convert: Callable[[Any], Any] | None = None

    def config(self) -> Any:
        """The value as a config writes it."""
        return self.value

    def construct(self, path: str, supplied: dict[str, Any]) -> Any:
        """The value as code takes it."""
        return self.convert(self.value) if self.convert else self.value


@dataclass
class Items:
    """A list, or a tuple."""

    items: list[Node]
    kind: Callable[[list[Any]], Any] = list

    def config(self) -> Any:
        """The resolved configs of the items."""
        return [item.config() for item in self.items]

    def construct(self, path: str, supplied: dict[str, Any]) -> Any:
        """The built items."""
        return self.kind([item.construct(f"{path}.{at}", {}) for at, item in enumerate(self.items)])


@dataclass
class Table:
    """A dict with string keys."""

    items: dict[str, Node]

    def config(self) -> Any:
        """The resolved configs of the values."""
        return {key: item.config() for key, item in self.items.items()}

    def construct(self, path: str, supplied: dict[str, Any]) -> Any:
        """The built values."""
        return {key: item.construct(joined(path, key), {}) for key, item in self.items.items()}


@dataclass
class Made:
    """An object of a class; `name` is what it is registered as, if it is."""

    spec: ClassSpec
    name: str | None = None
    arguments: dict[str, Node] = field(default_factory=dict)

    def config(self) -> Any:
        """The complete config: the name of the component, then all keys in the order of the signature."""
        named = {} if self.name is None else {"type": self.name}
        return named | {key: argument.config() for key, argument in self.arguments.items()}

    def construct(self, path: str, supplied: dict[str, Any]) -> Any:
        """The object. Of `supplied` it takes what its signature names after the `*`.

        Raises:
            ConfigError: the class refuses its arguments with a `ValueError`.
        """
        made = catalogue.load(self.spec.reference)
        arguments = {
            key: argument.construct(joined(path, key), {}) for key, argument in self.arguments.items()
        }
        taken = {key: supplied[key] for key, _ in self.spec.supplied if key in supplied}
        try:
            return made(**arguments, **taken)
        except ValueError as error:
            # Only the plain kind: its subclasses (a file that is not UTF-8, say) are not about the config.
            if type(error) is not ValueError:
                raise
            raise ConfigError(f"{path or self.spec.name}: {error}") from error


@dataclass
class Later:
    """A part that is built when code asks for it."""

    inner: Node

    def config(self) -> Any:
        """The resolved config of the part."""
        return self.inner.config()

    def construct(self, path: str, supplied: dict[str, Any]) -> Lazy[Any]:
        """The part, waiting."""
        return Lazy(lambda **later: self.inner.construct(path, later), self.inner.config())


Node = Leaf | Items | Table | Made | Later

#: Stands for a value that did not fit, and for a default that only code can write.
NOTHING = Leaf(Default.OPAQUE)


def joined(path: str, key: str | int) -> str:
    """The path of `key` under `path`: `model.encoder.num_heads`."""
    return f"{path}.{key}" if path else str(key)
