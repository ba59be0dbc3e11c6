"""Run a notebook and keep what it shows: `python scripts/run_notebook.py NOTEBOOK [OUT]`.

Without OUT the notebook itself gets the new outputs. They hold no times, so that only what has changed differs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from linker.common.files import atomic_write


def run(notebook: Path, timeout: int = 3600) -> nbformat.NotebookNode:
    """The notebook with its outputs; it runs in its own folder."""
    content = nbformat.read(notebook, as_version=4)
    NotebookClient(
        content,
        timeout=timeout,
        kernel_name="python3",
        resources={"metadata": {"path": str(notebook.parent)}},
        record_timing=False,
    ).execute()
    # What the kernel says of itself would differ between Python versions.
    content.metadata["language_info"] = {"name": "python"}
    for cell in content.cells:
        cell.metadata.pop("execution", None)
    return content


def main() -> None:
    """Run it, write it."""
    notebook = Path(sys.argv[1])
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else notebook
    with atomic_write(out) as file:
        nbformat.write(run(notebook), file)
    print(out)


if __name__ == "__main__":
    main()
