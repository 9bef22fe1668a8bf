"""Other parsers, each a script that runs in an environment of its own."""
