"""`linker config`: complete configs, and every mistake reported with its path."""

import copy
import json
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from linker.config import EXPERIMENT, check, load_config, resolve
from tests.helpers.forked import run_linker

CONFIG = Path(__file__).parents[3] / "configs" / "quickstart.jsonnet"
BASE = resolve(EXPERIMENT, load_config(CONFIG))


@pytest.fixture
def run(command: Any) -> Any:
    """Runs `linker config ...` in this process; returns exit code, stdout, stderr."""
    return partial(command, "config")


def test_check_says_ok(run: Any) -> None:
    assert run("check", CONFIG) == (0, f"{CONFIG}: ok\n", "")


def test_show_prints_a_config_that_shows_the_same(run: Any, tmp_path: Path) -> None:
    code, out, _ = run("show", CONFIG, "-o", "seed=7", "-o", "{trainer+: {epochs: 2}}")
    assert code == 0
    shown = json.loads(out)
    assert (shown["seed"], shown["trainer"]["epochs"]) == (7, 2)
    assert shown | {"seed": BASE["seed"], "trainer": BASE["trainer"]} == BASE
    (tmp_path / "again.jsonnet").write_text(out, encoding="utf-8")
    assert run("show", tmp_path / "again.jsonnet")[1] == out


def test_components_of_a_family_with_papers_and_keys_of_a_component(run: Any) -> None:
    lines = run("components", "Encoder")[1].splitlines()
    assert lines[0] == "Encoder"
    at = next(number for number, line in enumerate(lines) if line.startswith("  cnn "))
    assert lines[at + 1].strip() == "Kim 2014, https://arxiv.org/abs/1408.5882"
    keys = run("components", "Encoder.gru")[1]
    assert "  hidden_dim: an integer or null, default null. length of the state" in keys
    for wrong, hint in (("Encodr", 'did you mean "Encoder"?'), ("Encoder.grru", 'did you mean "gru"?')):
        code, out, err = run("components", wrong)
        assert (code, out) == (2, "")
        assert hint in err


def test_the_components_of_a_package_are_checked(tmp_path: Path) -> None:
    (tmp_path / "my_encoders.py").write_text(
        "from linker.modules.encoders.encoder import Encoder\n"
        "@Encoder.register('mine')\n"
        "class Mine(Encoder):\n"
        "    def __init__(self, width: int, *, input_dim: int): pass\n"
    )
    override = ["-o", 'model.encoder={"type": "mine", "widht": 3}']
    checked = partial(run_linker, tmp_path, "config", "check", str(CONFIG))
    included = checked(*override, "--include-package", "my_encoders")
    assert included.returncode == 2
    assert included.stderr.splitlines()[1:] == [
        "  model.encoder.width: required key is missing: expected an integer",
        '  model.encoder.widht: unknown key (value 3); did you mean "width"? Keys of Mine: width',
    ]
    missing = checked("--include-package", "my_encodes")
    assert missing.returncode == 2
    assert missing.stderr.startswith('error: package "my_encodes" was not found')


def objects(config: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Every object of a config with its path."""
    if isinstance(config, dict):
        yield path, config
    for key, value in config.items() if isinstance(config, dict) else enumerate(config):
        if isinstance(value, (dict, list)):
            yield from objects(value, (*path, key))


def dotted(*path: Any) -> str:
    return ".".join(map(str, path))


def typo(config: Any, chance: random.Random) -> tuple[str, str]:
    """A key with one letter doubled."""
    path, here = chance.choice([(path, here) for path, here in objects(config) if set(here) - {"type"}])
    key = chance.choice(sorted(set(here) - {"type"}))
    at = chance.randrange(len(key))
    wrong = key[:at] + key[at] + key[at:]
    here[wrong] = here.pop(key)
    return dotted(*path, wrong), f'did you mean "{key}"?'


def wrong_type(config: Any, chance: random.Random) -> tuple[str, str]:
    """An object that no component, list, number or text can be."""
    path, here = chance.choice(list(objects(config)))
    key = chance.choice(sorted(here))
    here[key] = {"nonsense": [[]]}
    return dotted(*path, key), "nonsense"


def misspelt_component(config: Any, chance: random.Random) -> tuple[str, str]:
    path, here = chance.choice([(path, here) for path, here in objects(config) if "type" in here])
    name = here["type"]
    here["type"] = f"{name}e"
    return dotted(*path, "type"), f'did you mean "{name}"?'


def extra(config: Any, chance: random.Random) -> tuple[str, str]:
    path, here = chance.choice(list(objects(config)))
    here["zzzzzz"] = "surplus"
    return dotted(*path, "zzzzzz"), 'unknown key (value "surplus")'


MUTATIONS = [typo, wrong_type, misspelt_component, extra]


def _as_jsonnet_gives(config: dict[str, Any]) -> dict[str, Any]:
    """Keys in order, and 0 for 0.0."""

    def number(digits: str) -> float:
        value = float(digits)
        return int(value) if value.is_integer() else value

    given: dict[str, Any] = json.loads(json.dumps(config, sort_keys=True), parse_float=number)
    return given


def test_200_mutated_configs(run: Any, tmp_path: Path) -> None:
    for seed in range(200):
        mutation = MUTATIONS[seed % len(MUTATIONS)]
        config = copy.deepcopy(BASE)
        path, words = mutation(config, random.Random(seed))
        config = _as_jsonnet_gives(config)
        problems = [str(problem) for problem in check(EXPERIMENT, config)]
        told = [problem for problem in problems if problem.startswith(path)]
        assert any(words in problem for problem in told), (mutation.__name__, path, words, problems)
        if seed % 10 == 0:  # the command says the same
            file = tmp_path / "mutated.jsonnet"
            file.write_text(json.dumps(config), encoding="utf-8")
            count = f"{len(problems)} problems\n  " if len(problems) > 1 else ""
            message = f"error: {file}: {count}" + "\n  ".join(problems) + "\n"
            assert run("check", file) == (2, "", message)
