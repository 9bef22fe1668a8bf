"""Other parsers, each a script that runs in its own environment."""
