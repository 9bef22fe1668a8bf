"""The paper's experiments as one command: `python -m bench.paper --data DIR --out DIR`.

    plan        datasets and systems, from a TOML file; the runs they make and their commands
    scores      what is measured on a run, and the counts of a treebank
    treebank    count a treebank (Table 1); write it as plain files for other parsers
    measure     parse dev and test, and score them
    udpipe      another parser, UDPipe 1
    tables      Tables 1-6, ours beside the paper's
    plots       Figure 3
    report      all of it as Markdown and JSON

A module imports only modules above it; `bench.experiment` runs the plan.
"""
