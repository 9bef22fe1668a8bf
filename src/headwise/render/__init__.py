"""What people see of a parse: a tree for the terminal, a picture, a record for programs.

All three take a `Sentence` and, when there is one, the `Parse` it came from, which adds how sure
the parser is of each arc. None ends with a line end, and none needs more than the words: the same
functions serve the command line, notebooks and web pages.
"""

from headwise.render.picture import Picture, show
from headwise.render.svg import to_svg
from headwise.render.terminal import draw
from headwise.treebank.records import to_json

__all__ = ["Picture", "draw", "show", "to_json", "to_svg"]
