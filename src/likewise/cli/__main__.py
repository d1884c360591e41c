"""``python -m likewise.cli``: the command line where its script is not on the path."""

from likewise.cli import main

if __name__ == "__main__":
    main()
