"""The native CPU kernels."""


def problem() -> str:
    """Why these kernels cannot be used; empty where they can."""
    return "the native library is not built"
