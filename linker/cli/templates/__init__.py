"""Templates of `linker new`."""
