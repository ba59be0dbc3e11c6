"""Jsonnet configs, checked against the signatures of the components they name."""

from linker.config.registrable import Lazy, Registrable

__all__ = ["Lazy", "Registrable"]
