"""Accuracy of our recipes, as one command: `python -m bench.accuracy --data DIR --out DIR`.

    plan        treebanks and rows of the table, from a TOML file; their runs and commands
    measure     parse dev and test, with PyTorch and in int8, and score them
    choose      find the best ensemble of some models on dev (a command of its own)
    report      averages over seeds, beside other parsers, as Markdown and JSON

A module imports only modules above it; `bench.experiment` runs the plan.
"""
