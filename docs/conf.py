"""Configuration of the documentation site; `make docs` builds it.

The source folder is the root of the repository, so that pages may link to the README, the benchmarks and the sample
as they do on a code host. Nothing is fetched while the site is built or shown.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from linker.version import __version__  # noqa: E402

project = "linker"
author = "The linker founders"
copyright = "the linker founders, Apache-2.0"
version = release = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "docs/index"
include_patterns = [
    "*.md",
    *("docs/*.md", "docs/**/*.md"),
    *("benchmarks/*.md", "benchmarks/**/*.md"),
    "data/README.md",
    "linker/contrib/*/README.md",
    "notebooks/*.ipynb",
]
exclude_patterns = ["benchmarks/*-notes.md", "benchmarks/**/*-notes.md", "build", "runs", ".venv*", ".*"]
nitpicky = False

# Markdown: headings get the anchors that code hosts give them.
myst_heading_anchors = 4
# Notebooks: the outputs are those that are committed; `make notebook` makes them.
nb_execution_mode = "off"
suppress_warnings = [
    # Records and benchmark pages are reached by links; only pages that are read in order are in a table of contents.
    "toc.not_included",
]

# API: Google-style docstrings, in which `single backticks` are code.
default_role = "literal"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
autodoc_default_options = {"members": True}
# Signatures and docstrings need no computing: without torch and the like the pages come out the same.
_COMPUTING = ["torch", "numpy", "scipy", "sklearn", "pyarrow", "lance", "transformers", "bm25s"]
autodoc_mock_imports = [name for name in _COMPUTING if importlib.util.find_spec(name) is None]

html_theme = "furo"
html_title = f"linker {release}"
html_extra_path = ["site"]
html_show_sourcelink = False
html_copy_source = False
