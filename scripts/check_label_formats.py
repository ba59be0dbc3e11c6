"""Check the label formats against the code of the annotation tools.

    python scripts/check_label_formats.py [--golden tests/golden/annotation]

Runs in an environment with linker's folder on the path and `argilla`, `label-studio-sdk`, `asreview` and `pandas`
installed; a missing package is reported and its check skipped. doccano is an application, not a library: the steps of
its importer and exporter are repeated here. Prodigy needs a license and is not checked. --golden keeps the files that
the tools wrote, for the tests.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace

from linker.annotation.formats import write
from linker.annotation.formats.label_format import LabeledPost
from linker.data.labels.reading import read_labels
from linker.data.types import Post

NOON = datetime(2026, 3, 1, 12, 30, 15, tzinfo=timezone.utc)
FIRST = Post("1", '=1+1 first\nsecond, "quoted" 🚀')
RECORDS = [
    LabeledPost(FIRST, "a", 0.9, "relevant", "anna", "sure", NOON),
    LabeledPost(FIRST, "a", 0.9, "not", "ben", None, NOON),
    LabeledPost(Post("2", "<b>ü</b>\u2028x"), "a", -0.2, "skip", "anna", None, NOON),
    LabeledPost(Post("3", "plain"), "a", 12.0),
]
EXPECTED = [("1", "anna", "relevant", "sure"), ("1", "ben", "not", ""), ("2", "anna", "skip", "")]


def facts(path: Path, name: str) -> list[tuple[str, str | None, str, str]]:
    """The labels of a file, without their times."""
    return [(one.post_id, one.annotator, one.value, one.note) for one in read_labels(path, name).labels]


def argilla(folder: Path) -> list[Path]:
    """Settings and records are read by Argilla and sent as its server expects them; what it writes is read back."""
    import argilla as rg
    from argilla.records._io import JsonIO

    # Settings ask for a server; none is needed to read them.
    rg.Argilla._default_client = SimpleNamespace(
        api=SimpleNamespace(
            **dict.fromkeys(
                ("datasets", "fields", "questions", "vectors", "metadata", "records", "users", "workspaces")
            )
        )
    )
    path = folder / "argilla.json"
    settings = rg.Settings.from_json(write(path, "argilla", RECORDS, "Mark what is about it.")[1])
    assert settings.guidelines == "Mark what is about it."
    assert [question.name for question in settings.questions] == ["label", "note"]
    settings.validate()
    for record in JsonIO._records_from_json(path):
        record.dataset = SimpleNamespace(settings=settings)
        sent = record.api_model().model_dump()
        assert sent["fields"]["text"] in [one.post.text for one in RECORDS]
        for response in sent["responses"]:
            assert response["status"].value == ("discarded" if sent["external_id"] == "2" else "submitted")
    theirs = folder / "argilla-own.json"
    JsonIO.to_json(JsonIO._records_from_json(path), theirs)
    assert facts(theirs, "argilla") == EXPECTED
    return [theirs]


def label_studio(folder: Path) -> list[Path]:
    """The labeling config, annotations and predictions pass Label Studio's checks; its converter finds the labels."""
    from label_studio_sdk.converter import Converter
    from label_studio_sdk.label_interface import LabelInterface

    path, config = write(folder / "label_studio.json", "label_studio", RECORDS)
    interface = LabelInterface(config.read_text())
    interface.validate()
    for task in json.loads(path.read_text()):
        for annotation in task["annotations"]:
            assert interface._validate_object(annotation, return_errors=True) == []
        for prediction in task["predictions"]:
            assert interface.validate_prediction(prediction, return_errors=True) == []
    Converter(config.read_text(), str(folder), download_resources=False).convert_to_json_min(
        str(path), str(folder / "minimal"), is_dir=False
    )
    minimal = json.loads((folder / "minimal" / "result.json").read_text())
    labeled = sorted((one["post_id"], one["label"]) for one in minimal if one.get("label"))
    assert labeled == [("1", "not"), ("1", "relevant")], labeled
    assert facts(path, "label_studio") == EXPECTED
    return []


def asreview(folder: Path) -> list[Path]:
    """ASReview reads the dataset and its labels; more are given in a project, whose file is read back."""
    from asreview.project.api import Project

    path = folder / "asreview.csv"
    write(path, "asreview", [*RECORDS, LabeledPost(Post("4", "known"), "a", 1.0, "not", "ben", "why", NOON)])
    project = Project.create(folder / "project", project_name="check")
    project.add_dataset(path)
    project.label_priors()
    with project.db as database:
        rows = database.input[["record_id", "dataset_row", "abstract", "included"]].to_dict(orient="records")
        assert [row["abstract"].lstrip("'") for row in rows] == [
            FIRST.text,
            "<b>ü</b>\u2028x",
            "plain",
            "known",
        ]
        assert [row["dataset_row"] for row in rows if row["included"] == 0] == [3]
        database.label_record(rows[0]["record_id"], 1)
        database.update_note(rows[0]["record_id"], "sure")
        database.label_record(rows[1]["record_id"], 0, user_id=5)
    theirs = folder / "asreview-own.asreview"
    project.export(theirs)
    expected = [("1", None, "relevant", "sure"), ("2", "5", "not", ""), ("4", "ben", "not", "why")]
    assert facts(theirs, "asreview") == expected, facts(theirs, "asreview")
    return [theirs]


def doccano(folder: Path) -> list[Path]:
    """Do what doccano 1.8.4 does with a file: lines, a pandas table, labels one by one; then its export, read back."""
    import pandas as pd

    path = folder / "doccano.jsonl"
    write(path, "doccano", RECORDS)
    with open(path, encoding="ascii") as file:
        table = pd.DataFrame([json.loads(line.rstrip()) for line in file])
    assert list(table["text"]) == [record.post.text for record in RECORDS]
    meta = table.loc[:, ~table.columns.isin(["text", "label"])].to_dict(orient="records")
    assert not any(isinstance(value, float) and math.isnan(value) for one in meta for value in one.values())
    labels = table.explode("label").dropna(subset=["label"])["label"]
    assert list(labels) == ["relevant", "not", "skip"]
    theirs = folder / "doccano-own.jsonl"
    export = pd.DataFrame(
        [
            {
                "id": 10 + place,
                "text": row.text,
                **one,
                "label": row.label,
                "Comments": [one["note"]] if one["note"] else [],
            }
            for place, (row, one) in enumerate(zip(table.itertuples(), meta))
        ]
    )
    export.to_json(theirs, orient="records", force_ascii=False, lines=True)
    assert facts(theirs, "doccano") == EXPECTED
    return [theirs]


def main() -> None:
    """Check what can be checked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--golden", type=Path)
    golden = parser.parse_args().golden
    checks: list[Callable[[Path], list[Path]]] = [argilla, label_studio, asreview, doccano]
    for check in checks:
        with tempfile.TemporaryDirectory() as folder:
            try:
                written = check(Path(folder))
            except ImportError as error:
                print(f"{check.__name__}: not checked ({error})")
                continue
            for path in written if golden else []:
                golden.mkdir(parents=True, exist_ok=True)
                (golden / path.name).write_bytes(path.read_bytes())
        print(f"{check.__name__}: as the tool has it")


if __name__ == "__main__":
    main()
