"""The tree of a checked config: values that fit their types, ready to be written out or built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from linker.common.errors import ConfigError
from linker.config.registrable import Lazy
from linker.config.registry import catalog
from linker.config.types import ClassSpec, Default


@dataclass
class ValueNode:
    """A plain value; `convert` turns it into the object that code takes (a string into a `Path`)."""

    value: Any
    convert: Callable[[Any], Any] | None = None

    def config(self) -> Any:
        """Return the value as a config writes it."""
        return self.value

    def construct(self, path: str, supplied: dict[str, Any]) -> Any:
        """Return the value as code takes it."""
        return self.convert(self.value) if self.convert else self.value


@dataclass
class ListNode:
    """A list, or a tuple."""

    items: list[Node]
    kind: Callable[[list[Any]], Any] = list

    def config(self) -> Any:
        """Return the resolved configs of the items."""
        return [item.config() for item in self.items]

    def construct(self, path: str, supplied: dict[str, Any]) -> Any:
        """Return the built items."""
        return self.kind([item.construct(f"{path}.{at}", {}) for at, item in enumerate(self.items)])


@dataclass
class DictNode:
    """A dict with string keys."""

    items: dict[str, Node]

    def config(self) -> Any:
        """Return the resolved configs of the values."""
        return {key: item.config() for key, item in self.items.items()}

    def construct(self, path: str, supplied: dict[str, Any]) -> Any:
        """Return the built values."""
        return {key: item.construct(joined(path, key), {}) for key, item in self.items.items()}


@dataclass
class ObjectNode:
    """An object of a class; `name` is its registered name, if it has one."""

    spec: ClassSpec
    name: str | None = None
    arguments: dict[str, Node] = field(default_factory=dict)

    def config(self) -> Any:
        """Return the complete config: the component's name, then all keys in the order of the signature."""
        named = {} if self.name is None else {"type": self.name}
        return named | {key: argument.config() for key, argument in self.arguments.items()}

    def construct(self, path: str, supplied: dict[str, Any]) -> Any:
        """Build the object. Of `supplied` it takes its keyword-only arguments.

        Raises:
            ConfigError: if the class rejects its arguments with a `ValueError`.
        """
        component = catalog.load(self.spec.reference)
        arguments = {
            key: argument.construct(joined(path, key), {}) for key, argument in self.arguments.items()
        }
        taken = {key: supplied[key] for key in self.spec.supplied if key in supplied}
        try:
            return component(**arguments, **taken)
        except ValueError as error:
            # Not its subclasses: a UnicodeDecodeError, for example, is not about the config.
            if type(error) is not ValueError:
                raise
            raise ConfigError(f"{path or self.spec.name}: {error}") from error


@dataclass
class LazyNode:
    """A part that code builds later."""

    inner: Node

    def config(self) -> Any:
        """Return the resolved config of the part."""
        return self.inner.config()

    def construct(self, path: str, supplied: dict[str, Any]) -> Lazy[Any]:
        """Return the part, not yet built."""
        return Lazy(lambda **later: self.inner.construct(path, later), self.inner.config())


Node = ValueNode | ListNode | DictNode | ObjectNode | LazyNode

#: In place of a value that does not fit, and of a default that only code can write.
NOTHING = ValueNode(Default.OPAQUE)


def joined(path: str, key: str | int) -> str:
    """Return the path of `key` under `path`, such as `model.encoder.num_heads`."""
    return f"{path}.{key}" if path else str(key)
