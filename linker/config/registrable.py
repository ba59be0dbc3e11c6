"""Components that configs can name: one decorator registers a class under a base."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

T = TypeVar("T")


class Registrable:
    """Base of every family of components (`Encoder`, `Loss`, ...)."""

    _registry: ClassVar[dict[type, dict[str, type]]] = {}

    @classmethod
    def register(cls, name: str) -> Callable[[type[T]], type[T]]:
        """Decorator: make the class known as `name` among the components of this base."""

        def add(component: type[T]) -> type[T]:
            Registrable._registry.setdefault(cls, {})[name] = component
            return component

        return add


class Lazy(Generic[T]):
    """A component whose config is known but whose last arguments come later."""

    def __init__(self, build: Callable[..., T]) -> None:
        self._build = build

    def construct(self, **supplied: Any) -> T:
        """Build the component with the arguments that only the code around it knows."""
        return self._build(**supplied)
