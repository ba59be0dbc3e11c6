"""Run notebooks and store their outputs: `python scripts/run_notebook.py [NOTEBOOK [OUT]]`.

Without NOTEBOOK, all of `notebooks/` run. Without OUT, the notebook itself is updated, and its last picture becomes the
one on the gallery page. Execution times are left out, so that only changed outputs differ.
"""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

from linker.common.files import atomic_write

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
PICTURES = ROOT / "docs/images/notebooks"


def run(notebook: Path, timeout: int = 3600) -> nbformat.NotebookNode:
    """Run a notebook in its own folder and return it with its outputs."""
    content = nbformat.read(notebook, as_version=4)
    with TemporaryDirectory() as folder:
        config = Config()
        if sys.platform != "win32":  # another process may take a port between its choice and its use
            config.KernelManager.transport = "ipc"
            config.KernelManager.connection_file = str(Path(folder, "kernel.json"))
        NotebookClient(
            content,
            timeout=timeout,
            kernel_name="python3",
            resources={"metadata": {"path": str(notebook.parent)}},
            record_timing=False,
            coalesce_streams=True,
            config=config,
        ).execute()
    # The kernel's description differs between Python versions.
    content.metadata["language_info"] = {"name": "python"}
    for cell in content.cells:
        cell.metadata.pop("execution", None)
    return content


def last_picture(content: nbformat.NotebookNode) -> bytes:
    """Return the last picture among the outputs of a notebook, PNG."""
    outputs = [output for cell in content.cells for output in cell.get("outputs", [])]
    pictures = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    return base64.b64decode(pictures[-1])


def main() -> None:
    """Run the notebook named on the command line, or all."""
    notebooks = [Path(sys.argv[1]).resolve()] if len(sys.argv) > 1 else sorted(NOTEBOOKS.glob("*.ipynb"))
    for notebook in notebooks:
        out = Path(sys.argv[2]) if len(sys.argv) > 2 else notebook
        content = run(notebook)
        with atomic_write(out) as file:
            nbformat.write(content, file)
        if out.resolve().parent == NOTEBOOKS:
            PICTURES.mkdir(exist_ok=True)
            with atomic_write(PICTURES / f"{out.stem}.png", "wb") as file:
                file.write(last_picture(content))
        print(out)


if __name__ == "__main__":
    main()
