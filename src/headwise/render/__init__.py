"""Trees for people to look at: as text on a terminal, and as SVG.

Each function takes a `Sentence` and, optionally, its `Parse`, which adds the probability of each
arc. No result ends with a line end. The command line, notebooks and the web page share them.
"""

from headwise.render.svg import Picture, to_picture, to_svg
from headwise.render.terminal import draw
from headwise.treebank.records import to_json

__all__ = ["Picture", "draw", "to_json", "to_picture", "to_svg"]
