"""The three questions to a config: is it right, what does it say in full, and the objects it describes."""

from __future__ import annotations

from typing import Any

from linker.common.errors import ConfigError
from linker.config.nodes import Node
from linker.config.registry import catalogue
from linker.config.validation import Checker, Problem


def check(target: Any, params: Any) -> list[Problem]:
    """Everything that is wrong with a config; imports none of the components.

    Args:
        target: what the config describes: a class, a family, an annotation such as `list[Encoder]`, or a
            reference `module:Class`.
        params: the config, as `load_config` or `json.load` give it.
    """
    checker = Checker()
    checker.fit(catalogue.type_of(target), params)
    return checker.problems


def resolve(target: Any, params: Any) -> Any:
    """The complete config: every default written out, keys in the order of the signatures.

    Raises:
        ConfigError: listing all problems.
    """
    return _checked(target, params).config()


def build(target: Any, params: Any, **supplied: Any) -> Any:
    """The object that a config describes. `Lazy` parts are checked now and built later.

    Args:
        target: as for `check`.
        params: the config.
        supplied: keyword-only arguments for the object; it takes those that its signature names.

    Raises:
        ConfigError: listing all problems, before anything is imported or built.
    """
    return _checked(target, params).construct("", supplied)


def _checked(target: Any, params: Any) -> Node:
    checker = Checker()
    node = checker.fit(catalogue.type_of(target), params)
    problems = checker.problems
    if problems:
        raise ConfigError(told(problems, params))
    return node


def told(problems: list[Problem], params: Any) -> str:
    """All problems in one message, under the name of the file that the config came from."""
    source = getattr(params, "source", "config")
    if len(problems) == 1:
        return f"{source}: {problems[0]}"
    return "\n  ".join([f"{source}: {len(problems)} problems", *map(str, problems)])
