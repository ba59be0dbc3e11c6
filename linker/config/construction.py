"""Check, resolve and build configs."""

from __future__ import annotations

from typing import Any

from linker.common.errors import ConfigError
from linker.config.nodes import Node, ObjectNode
from linker.config.registry import catalog
from linker.config.validation import Checker, Problem


class ResolvedConfig(dict[str, Any]):
    """A complete config together with its checked form, so that `build` need not check it again.

    Attributes:
        target: what the config describes.
        node: the checked config; None in a copy, such as those of `dataclasses.asdict`, which is checked again.
    """

    def __init__(self, values: Any = (), target: Any = None, node: Node | None = None) -> None:
        super().__init__(values)
        self.target, self.node = target, node


def check(target: Any, params: Any) -> list[Problem]:
    """Return everything that is wrong with a config; imports none of linker's components.

    Args:
        target: what the config describes: a class, a family, an annotation such as `list[Encoder]`, or a
            reference `module:Class`.
        params: the config, as returned by `load_config` or `json.load`.

    Returns:
        The problems, in the order of the signatures.
    """
    checker = Checker()
    checker.fit(catalog.type_of(target), params)
    return checker.problems


def resolve(target: Any, params: Any) -> Any:
    """Return the complete config: every default written out, keys in the order of the signatures.

    Args:
        target: as for `check`.
        params: the config.

    Returns:
        A dict where the target is a class or family (`build` then does not check it again), else a JSON value.

    Raises:
        ConfigError: if anything is wrong with the config; lists all problems.
    """
    node = _checked(target, params)
    return ResolvedConfig(node.config(), target, node) if isinstance(node, ObjectNode) else node.config()


def build(target: Any, params: Any, **supplied: Any) -> Any:
    """Build the object that a config describes. `Lazy` parts are checked now and built later.

    Args:
        target: as for `check`.
        params: the config; the result of `resolve` is checked again only if it was changed since.
        supplied: keyword-only arguments of the object; those that its signature does not name are ignored. An
            object with a keyword-only argument `config` gets its resolved config.

    Returns:
        The object.

    Raises:
        ConfigError: if anything is wrong with the config; lists all problems, before anything is imported or built.
    """
    node = params.node if isinstance(params, ResolvedConfig) and params.target == target else None
    if node is None or node.config() != params:
        node = _checked(target, params)
    return node.construct("", {"config": node.config(), **supplied})


def _checked(target: Any, params: Any) -> Node:
    checker = Checker()
    node = checker.fit(catalog.type_of(target), params)
    source, problems = getattr(params, "source", "config"), checker.problems
    if len(problems) == 1:
        raise ConfigError(f"{source}: {problems[0]}")
    if problems:
        raise ConfigError("\n  ".join([f"{source}: {len(problems)} problems", *map(str, problems)]))
    return node
