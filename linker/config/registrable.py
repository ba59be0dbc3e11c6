"""Base class of component families, and the decorator that registers components."""

from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

T = TypeVar("T")


class Registrable:
    """Base of every family of components (`Encoder`, `Loss`, ...).

    A family derives directly from this class. `default_component` is the component used if a config omits `type`.
    """

    default_component: ClassVar[str | None] = None
    _catalog: ClassVar[Any]  # sets itself here

    @classmethod
    def register(cls, name: str) -> Callable[[type[T]], type[T]]:
        """Return a decorator that registers a class as `name` in this family.

        Raises:
            ConfigError: if another class has this name. The same class defined again, as in a notebook, replaces the
                old one.
            TypeError: if this class is not a family.
        """
        if Registrable not in cls.__bases__:
            raise TypeError(f"{cls.__name__} is not a family: it does not derive directly from Registrable")

        def add(component: type[T]) -> type[T]:
            Registrable._catalog.add(cls, name, component)
            return component

        return add

    @classmethod
    def by_name(cls: type[T], name: str) -> type[T]:
        """Return the component `name` of this family; of linker's own, imports only its module.

        Raises:
            ConfigError: if the component is unknown, or its module needs a package that is not installed.
        """
        component: type[T] = Registrable._catalog.component(cls, name)
        return component

    @classmethod
    def available(cls) -> list[str]:
        """Return the names of all components of this family, sorted; imports none of linker's own."""
        return list(Registrable._catalog.names(cls))


class Lazy(Generic[T]):
    """A component with a checked config that is built later, with arguments from code.

    Attributes:
        config: the resolved config of the component; None for one made in code.
    """

    def __init__(self, build: Callable[..., T], config: Any = None) -> None:
        self._build = build
        self.config = config

    def construct(self, **supplied: Any) -> T:
        """Build the component with arguments from code.

        A component from a config takes the arguments that its signature names.
        """
        return self._build(**supplied)
