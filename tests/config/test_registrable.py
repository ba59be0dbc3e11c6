"""Components are registered by being imported, and found by name."""

import sys
from collections.abc import Callable

import pytest

from linker.common.errors import ConfigError
from linker.config import Registrable, include_package

BASE = """
from linker.config import Registrable
class Shape(Registrable):
    pass
"""


def load_base(name: str) -> type[Registrable]:
    return __import__(f"{name}.base", fromlist=["Shape"]).Shape


def test_modules_that_register_nothing_are_not_imported(package: Callable[..., str]) -> None:
    name = package(
        base=BASE,
        middle="from PACKAGE.base import Shape as Form\n",
        parts="from PACKAGE.middle import (\n    Form as\n    Figure,\n)\n\n"
        "@Figure.register('square')\nclass Square(Figure):\n    pass\n",
        script="1 / 0",
    )
    assert load_base(name).available() == ["square"]


def test_families_are_distinguished_by_what_register_is_called_on(package: Callable[..., str]) -> None:
    name = package(
        base=BASE + "class Color(Registrable):\n    pass\n",
        parts="""
        import atexit
        from . import base
        from .base import Color as Tint
        @Tint.register("plain")
        class PlainColor(Tint):
            pass
        @base.Shape.register("plain")
        class PlainShape(base.Shape):
            pass
        @atexit.register
        def leave(): pass
        """,
    )
    module = __import__(f"{name}.base", fromlist=["x"])
    assert module.Shape.by_name("plain").__name__ == "PlainShape"
    assert module.Color.by_name("plain").__name__ == "PlainColor"


def test_components_defined_while_the_program_runs() -> None:
    class Sound(Registrable):
        pass

    @Sound.register("beep")
    class Beep(Sound):
        pass

    assert Sound.available() == ["beep"]
    assert Sound.by_name("beep") is Beep

    def redefine() -> type:
        @Sound.register("beep")
        class Other(Sound):
            pass

        return Other

    with pytest.raises(ConfigError, match=r'Sound "beep" is registered twice: .*Beep and .*Other'):
        redefine()


def test_a_class_defined_again_replaces_the_old_one() -> None:
    class Taste(Registrable):
        pass

    def define() -> type:
        @Taste.register("sweet")
        class Sweet(Taste):
            pass

        return Sweet

    old = define()
    assert Taste.by_name("sweet") is old
    new = define()
    assert Taste.by_name("sweet") is new


def test_only_families_register() -> None:
    class Family(Registrable):
        pass

    class Member(Family):
        pass

    with pytest.raises(TypeError, match="Member is not a family"):
        Member.register("x")


def test_a_module_that_cannot_be_imported(package: Callable[..., str]) -> None:
    with pytest.raises(ConfigError, match=r"\.far cannot be imported \(ZeroDivisionError: division by zero"):
        package(
            base=BASE,
            far="1 / 0\nfrom PACKAGE.base import Shape\n@Shape.register('far')\nclass Far(Shape): pass\n",
        )


def test_including_what_does_not_exist() -> None:
    for name in ("no_such_package_at_all", "no spaces", "", "linker.nowhere"):
        with pytest.raises(ConfigError, match=f'package "{name}"'):
            include_package(name)


def test_a_single_module_of_the_current_folder(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, package: Callable[..., str]
) -> None:
    name = package(base=BASE)
    monkeypatch.chdir(str(tmp_path))
    monkeypatch.setattr(sys, "path", list(sys.path))
    with open("example_package_alone.py", "w", encoding="utf-8") as file:
        file.write(
            f"from {name}.base import Shape\n@Shape.register('alone')\nclass Alone(Shape):\n    pass\n"
        )
    include_package("example_package_alone")
    assert load_base(name).by_name("alone").__name__ == "Alone"
