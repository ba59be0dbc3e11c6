"""What does not exist on Windows must not be needed to import the package."""

import subprocess
import sys

IMPORT_ALL = """
import importlib, pkgutil, sys
for name in ("fcntl", "termios", "tty", "pwd", "grp", "resource"):
    sys.modules[name] = None
for package in ("linker.common", "linker.corpus", "linker.annotation", "linker.web"):
    found = importlib.import_module(package)
    for module in pkgutil.walk_packages(found.__path__, package + "."):
        importlib.import_module(module.name)
        print(module.name)
"""


def test_everything_imports_without_the_modules_of_posix() -> None:
    # `subprocess` and `multiprocessing` choose by platform; the modules of linker may not need these names.
    done = subprocess.run([sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {"linker.corpus.corpus", "linker.corpus.storage.store", "linker.annotation.session.session"} <= {
        *done.stdout.split()
    }
