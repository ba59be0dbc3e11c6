#!/usr/bin/env bash
# Run the tests with torchtext 0.18, hence with torch 2.3, the oldest that is supported, and numpy 1.
#
#   scripts/test_torchtext.sh                      everything but the slow tests
#   scripts/test_torchtext.sh tests/data -x        what pytest is given
#
# Needs Python 3.10 to 3.12 (PYTHON=python3.11 chooses one), a network for pip, and 6 GB in TMPDIR.
# The environment and a copy of the working tree lie in a temporary folder, which goes when the run ends.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/linker"
git ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
    tar --create --null --files-from=- | tar --extract --directory "$folder/linker"

"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip --disable-pip-version-check install -q -e "$folder/linker[torchtext,test]"
cd "$folder/linker"
export PATH="$folder/venv/bin:$PATH"
python -c 'import numpy, torch, torchtext; print("torch", torch.__version__, "torchtext", torchtext.__version__, "numpy", numpy.__version__)'
if [ $# -eq 0 ]; then set -- -m "not slow"; fi
python -m pytest "$@"
