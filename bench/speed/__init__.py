"""Compare speed, memory and installed size of headwise and other parsers on one file.

    python -m bench.speed setup --data UD_English-EWT --envs .cache/speed
    python -m bench.speed run --data UD_English-EWT --envs .cache/speed --out bench/results

`setup` creates an environment for each parser and trains it briefly on the same treebank, with
its default sizes (only its speed matters here); it also trains a model of the paper's sizes. Run it
once. `run` parses the same file with each parser in turn, each in its own process, for several
rounds, so that other load on the machine affects all of them alike.
"""
