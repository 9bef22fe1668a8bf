"""The command line: a command reads its arguments and calls public functions, nothing more.

stdout is data only; progress and remarks go to stderr. Exit 0 is success, 1 one of our own errors,
2 wrong usage, 128 and more a signal (130 for Ctrl-C); any other exception keeps its traceback.
"""
