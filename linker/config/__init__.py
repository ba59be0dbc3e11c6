"""Jsonnet configs, checked against the signatures of the components they name.

The signature of a component is its schema: positional-or-keyword parameters are config keys, keyword-only ones are
supplied by code. The schemas of linker's own components are read from `components.json`, so that none is imported
before it is built; packages and plugins are imported when they are named.
"""

from linker.config.checking import Problem, build, check, resolve
from linker.config.jsonnet import LoadedConfig, load_config
from linker.config.registrable import Lazy, Registrable
from linker.config.registry import catalog

#: What a training config describes, as `module:Class`, so that checking one imports nothing.
EXPERIMENT = "linker.training.experiment:Experiment"


include_package = catalog.include

__all__ = [
    "EXPERIMENT", "Lazy", "LoadedConfig", "Problem", "Registrable", "build", "check", "include_package",
    "load_config", "resolve",
]  # fmt: skip
