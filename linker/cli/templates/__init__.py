"""Templates of `linker config new`."""
