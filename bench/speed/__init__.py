"""Words a second, memory and size of headwise and of other parsers, on one file and in one run.

    python -m bench.speed setup --data UD_English-EWT --envs .cache/speed
    python -m bench.speed run --data UD_English-EWT --envs .cache/speed --out bench/results

`setup` makes an environment for each parser, trains it shortly on the same treebank (only its speed
matters here, and its sizes are those of its defaults) and trains a model of the paper's sizes; it
is done once. `run` parses the same file with each of them, in a process of its own, all in turn
and the whole round several times, so that whatever else the machine does hits all alike.
"""
