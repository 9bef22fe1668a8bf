"""The paper's experiments as one command: `python -m bench.paper --data DIR --out DIR`.

    plan        datasets and systems, from a TOML file; which runs they make
    treebank    a treebank in figures (Table 1), and as plain files for outside parsers
    results     a finished run as a small JSON file
    measure     parse dev and test, and score them
    udpipe      an outside parser, UDPipe 1
    steps       the commands that make a run
    figures     means over seeds, beside the figures of the paper
    tables      Tables 1-6
    plots       Figure 3
    report      all of it as Markdown and JSON

A module imports only modules above it; `bench.jobs` runs what `steps` makes.
"""
