"""Accuracy of our recipes, as one command: `python -m bench.accuracy --data DIR --out DIR`.

    plan        treebanks and rows of the table, from a TOML file; which runs they make
    results     a finished run as a small JSON file
    measure     parse dev and test, by PyTorch and in int8, and score them
    choose      which of some models are best together, on dev (a command of its own)
    steps       the commands that make a run
    report      means over seeds, beside other parsers, as Markdown and JSON

A module imports only modules above it; `bench.jobs` runs what `steps` makes.
"""
