"""`linker export`: write a trained model in a form that scores without torch."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from linker.common.errors import LinkerError


def export(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Folder of a trained model.", show_default=False)
    ],
    onnx: Annotated[
        bool, typer.Option("--onnx", help="Write graphs for ONNX Runtime, the only format and the default.")
    ] = True,
    posts: Annotated[
        str | None,
        typer.Option(
            "--posts",
            metavar="FILE",
            help="Posts whose activations set the ranges of int8 in a transformer.",
            show_default="the sample",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Folder to write.", show_default="MODEL-onnx"),
    ] = None,
) -> None:
    """Export a trained transformer to ONNX in int8: it scores without torch, several times faster."""
    # Of torch's exporter; read when torch is imported.
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    from linker.models.resolve import resolve_model

    folder = resolve_model(model).folder
    out = out or Path(f"{model}-onnx")
    if out.exists():
        raise LinkerError(f"{out}: exists; give another --out, or delete it first")
    texts: list[str] = []
    if posts is not None:
        from linker.data.io.records import read_posts

        texts = [post.text for post in read_posts(posts)]

    from linker.models.onnx.export import export_model

    export_model(folder, out, texts)
    print(out)
