"""`python -m linker`."""

from linker.cli.main import main

if __name__ == "__main__":
    main()
