"""`python -m headwise` is `headwise`."""

from headwise.cli.main import main

if __name__ == "__main__":
    main()
