"""`python -m plait` to the command."""

from plait.cli import main

if __name__ == "__main__":
    main()
