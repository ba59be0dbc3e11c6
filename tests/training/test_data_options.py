"""What `--data`, `--articles`, `--posts` and `--vectors` make of a config."""

from pathlib import Path
from typing import Any

import pytest

from linker.common.errors import ConfigError, DataError
from linker.training.data_options import use_data, use_vectors


def config(reader: Any = "articles_and_posts", **files: str) -> dict[str, Any]:
    return {"data": {"reader": {"type": reader, **files}}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("articles.csv", "posts.jsonl.gz", "notes.md", "labels.csv", "texts.jsonl"):
        (tmp_path / name).write_text("")
    return tmp_path


def test_a_folder_gives_the_files_whatever_their_format(folder: Path) -> None:
    one = config(articles="a", posts="p")
    use_data(one, str(folder), None, None)
    assert one["data"]["reader"] == {
        "type": "articles_and_posts",
        "articles": str(folder / "articles.csv"),
        "posts": str(folder / "posts.jsonl.gz"),
    }
    labeled = config("labeled_texts")
    use_data(labeled, str(folder), None, None)
    assert labeled["data"]["reader"]["labels"] == str(folder / "labels.csv")
    assert labeled["data"]["reader"]["texts"] == str(folder / "texts.jsonl")


def test_single_files_go_before_the_folder_and_leave_the_rest_as_it_is(folder: Path) -> None:
    one = config(articles="a", posts="p")
    use_data(one, str(folder), None, str(folder / "notes.md"))
    assert one["data"]["reader"]["posts"] == str(folder / "notes.md")
    assert one["data"]["reader"]["articles"] == str(folder / "articles.csv")
    two = config(articles="a", posts="p")
    use_data(two, None, None, str(folder / "notes.md"))
    assert two["data"]["reader"]["articles"] == "a"


def test_a_reader_with_one_input_takes_a_file_or_a_folder(folder: Path) -> None:
    for given in (folder, folder / "posts.jsonl.gz"):
        one = config("single_file", files="f")
        use_data(one, str(given), None, None)
        assert one["data"]["reader"]["files"] == str(given)
    passages = config("passages", articles="a")
    use_data(passages, str(folder), None, None)
    assert passages["data"]["reader"]["articles"] == str(folder / "articles.csv")


def test_everything_that_is_wrong_is_reported_at_once(tmp_path: Path) -> None:
    for name in ("posts.csv", "posts.jsonl"):
        (tmp_path / name).write_text("")
    with pytest.raises(DataError) as told:
        use_data(config(), str(tmp_path), None, None)
    assert "no file `articles` in this folder" in str(told.value)
    assert "several files `posts` (posts.csv, posts.jsonl); name one with --posts" in str(told.value)
    with pytest.raises(DataError) as told:
        use_data(config(), None, "absent.jsonl", "gone.jsonl")
    assert "--articles absent.jsonl: file not found" in str(told.value)
    assert "--posts gone.jsonl: file not found" in str(told.value)
    with pytest.raises(DataError, match="folder not found") as told:
        use_data(config(), str(tmp_path / "absent"), None, None)
    assert str(told.value).count("folder not found") == 1
    with pytest.raises(DataError, match="not a folder; give single files with --articles and --posts"):
        use_data(config(), str(tmp_path / "posts.csv"), None, None)


def test_options_that_a_reader_has_no_use_for_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("")
    with pytest.raises(DataError, match="reads files, no articles; use --data"):
        use_data(config("single_file"), None, str(tmp_path / "x.csv"), None)
    with pytest.raises(ConfigError, match="do not apply to the reader None"):
        use_data({"data": {"reader": {}}}, str(tmp_path), None, None)


def test_vectors_replace_those_of_the_config_wherever_they_stand() -> None:
    inner = {"type": "siamese", "vectors": {"source": "6B.300d", "cache": "c"}}
    one = {"model": {"type": "article_softmax", "model": {"type": "ensemble", "parts": ["tfidf", inner]}}}
    use_vectors(one, "mine.txt")
    assert inner["vectors"] == {"source": "mine.txt", "cache": "c"}
    with pytest.raises(ConfigError, match="takes no word vectors"):
        use_vectors({"model": {"type": "transformer"}}, "mine.txt")
    torchtext = {"model": {"vectors": {"type": "torchtext", "name": "glove.6B.50d"}}}
    use_vectors(torchtext, "6B.300d")
    assert torchtext["model"]["vectors"]["name"] == "glove.6B.300d"
