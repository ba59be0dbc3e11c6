"""The web application of `linker serve`."""
