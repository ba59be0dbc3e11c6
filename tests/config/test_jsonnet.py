"""Jsonnet files, imports, overrides."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.common.errors import ConfigError
from linker.config import check, load_config
from linker.config.jsonnet import parse_value, set_value


def write(path: str, text: str) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")
    return path


def test_a_file_with_imports(here: Path) -> None:
    write("configs/lib/base.libsonnet", "{dim:: 3, encoder: {size: $.dim}}")
    write("configs/small/deep/x.jsonnet", "(import '../../lib/base.libsonnet') + {text: importstr 'x.txt'}")
    write("configs/small/deep/x.txt", "hé")
    config = load_config("configs/small/deep/x.jsonnet")
    assert config == {"encoder": {"size": 3}, "text": "hé"}
    assert config.source == "configs/small/deep/x.jsonnet"


def test_nothing_comes_from_the_environment(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("who", "Ada")
    with pytest.raises(ConfigError, match="undefined external variable: who"):
        load_config(write("x.jsonnet", "{a: std.extVar('who')}"))


@pytest.mark.parametrize("how", ["import", "importstr", "importbin"])
def test_imports_stay_in_the_folder_of_the_config(here: Path, how: str) -> None:
    secret = write("secret.json", "{}")
    Path("configs").mkdir()
    Path("configs/link.json").symlink_to(Path(secret).resolve())
    for target in ("../secret.json", str(Path(secret).resolve()), "link.json", "lib/../../secret.json"):
        write("configs/x.jsonnet", f"{{a: {how} {json.dumps(target)}}}")
        with pytest.raises(ConfigError, match=r"configs/x\.jsonnet:1:5: .*may only import from .*configs"):
            load_config("configs/x.jsonnet")
    with pytest.raises(ConfigError, match=r"override 1:1:5: .*may only import from"):
        load_config(write("configs/y.jsonnet", "{}"), ["{a: " + how + " '../secret.json'}"])
    with pytest.raises(ConfigError, match=r"x\.jsonnet:1:5: "):
        load_config(write("x.jsonnet", f"{{a: {how} '{'y' * 5_000}'}}"))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{\n  a: 3,,\n}", "x.jsonnet:2:8"),
        ("{\n  a: b,\n}", "x.jsonnet:2:6"),
        ("{\n\n  a: 1 / 0 }", "x.jsonnet:3:6"),
        ("{a: error 'my words'}", "x.jsonnet:1:5"),
        ("{a: import 'gone.libsonnet'}", "x.jsonnet:1:5"),
        ("{assert self.a > 3 : 'too small', a: 1}", "x.jsonnet:1:"),
    ],
)
def test_errors_in_jsonnet_name_the_place(here: Path, text: str, place: str) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(write("x.jsonnet", text))
    assert str(error.value).startswith(place)


def test_an_error_in_an_imported_file_names_that_file(here: Path) -> None:
    write("lib/base.libsonnet", "{\n  a: 1 +\n}")
    with pytest.raises(ConfigError, match=r"^lib/base\.libsonnet:3:1: "):
        load_config(write("x.jsonnet", "import 'lib/base.libsonnet'"))


def test_files_that_are_no_configs(here: Path) -> None:
    for text in ("[1]", "3", "'x'", "null"):
        with pytest.raises(ConfigError, match=r"x\.jsonnet: a config is an object"):
            load_config(write("x.jsonnet", text))
    with pytest.raises(ConfigError, match=r"gone\.jsonnet: config not found; .*`linker config list`"):
        load_config("gone.jsonnet")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(here)
    # The second ended the process: Jsonnet's library looked for that file.
    for content in (b"\xff\xfe\x00{}", b"import '\xed\xa0\x80'"):
        Path("binary.jsonnet").write_bytes(b"//\n" + content)
        with pytest.raises(ConfigError, match=r"^binary\.jsonnet:2: not UTF-8; save"):
            load_config("binary.jsonnet")


def test_endless_recursion_is_refused(here: Path) -> None:
    with pytest.raises(ConfigError, match="max stack frames"):
        load_config(write("x.jsonnet", "local f(x) = f(x) + 1; {a: f(1)}"))


def test_a_snippet_is_added_as_jsonnet_adds(here: Path) -> None:
    write("x.jsonnet", "{dim:: 3, encoder: {type: 'gru', size: $.dim}, list: [1]}")
    assert load_config("x.jsonnet", ["{dim:: 5}"])["encoder"] == {"type": "gru", "size": 5}
    assert load_config("x.jsonnet", ["{encoder+: {depth: 2}}"])["encoder"] == {
        "type": "gru",
        "size": 3,
        "depth": 2,
    }
    assert load_config("x.jsonnet", ["{encoder: {depth: 2}}"])["encoder"] == {"depth": 2}
    assert load_config("x.jsonnet", [" {list+: [2]}", "{list+: [3]}"])["list"] == [1, 2, 3]
    assert load_config("x.jsonnet", ["encoder.size=9", "{encoder+: {size: 4}}"])["encoder"]["size"] == 9


def test_an_error_in_a_snippet_names_it(here: Path) -> None:
    with pytest.raises(ConfigError, match=r"^override 2:2:4: division by zero"):
        load_config(write("x.jsonnet", "{}"), ["{}", "a=1", "{\na: 1 / 0}"])


def test_values_are_set_by_path(here: Path) -> None:
    write("x.jsonnet", "{encoder: 'gru', readers: [{path: 'a'}, 'b'], seed: 1, empty: null}")
    config = load_config(
        "x.jsonnet",
        [
            "encoder.size=6",
            "readers.0.path=c=d.jsonl",
            'readers.1=[1, {"x": null}]',
            "new.a.b=true",
            "empty.x=",
            "seed=2",
        ],
    )
    assert config == {
        "encoder": {"type": "gru", "size": 6},
        "readers": [{"path": "c=d.jsonl"}, [1, {"x": None}]],
        "seed": 2,
        "empty": {"x": ""},
        "new": {"a": {"b": True}},
    }


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("seed", "expected path.to.key=value"),
        ("=3", "expected path.to.key=value"),
        ("a..b=3", "expected path.to.key=value"),
        ("seed.x=3", "seed is 1 and has no x"),
        ("readers.2=3", r"readers is \[1, 2\] and has no 2"),
        ("readers.-1=3", "has no -1"),
        ("readers.x.y=3", "has no x"),
        ("readers.²=3", "has no ²"),
    ],
)
def test_overrides_that_lead_nowhere(here: Path, override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as error:
        load_config(write("x.jsonnet", "{readers: [1, 2], seed: 1}"), [override])
    assert str(error.value).startswith(f"-o {override}: ")


@pytest.mark.parametrize(
    "text", ["NaN", "-Infinity", "01", "six", "'6'", "{a: 1}", "[" * 100_000, "9" * 5000]
)
def test_what_is_not_json_is_text(text: str) -> None:
    assert parse_value(text) == text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
KEYS = st.lists(st.from_regex(r"[a-z_]{1,5}", fullmatch=True), min_size=1, max_size=5)


@given(value=JSON, keys=KEYS)
def test_any_json_value_comes_through_an_override(value: Any, keys: list[str]) -> None:
    config: dict[str, Any] = {}
    set_value(config, f"{'.'.join(keys)}={json.dumps(value)}")
    here: Any = config
    for key in keys:
        here = here[key]
    assert here == value
    assert type(here) is type(value)


def test_problems_name_the_file(here: Path, zoo: str) -> None:
    from linker.config import resolve

    config = load_config(write("x.jsonnet", "{chief: {legs: 'x'}}"))
    assert check(zoo, config)
    with pytest.raises(ConfigError, match=r'^x\.jsonnet: chief\.legs: expected an integer, got "x"$'):
        resolve(zoo, config)
