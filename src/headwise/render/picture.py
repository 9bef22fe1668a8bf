"""A picture that a notebook displays as the last value of a cell.

headwise.show(parser.annotate_text("Kids love candy. So do I."))
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from headwise.errors import refuse
from headwise.files import open_target
from headwise.render.svg import stack_svgs, to_svg
from headwise.treebank.sentence import Parse, Sentence, sentence_from_words


@dataclass(frozen=True, slots=True)
class Picture:
    """One SVG picture of one or more sentences."""

    svg: str

    def _repr_svg_(self) -> str:
        """Give notebooks what they display."""
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture: {len(self.svg):,} characters of SVG>"

    def save(self, path: str | Path) -> None:
        """Write it to a file; if that fails, no part of it is left."""
        with open_target(path) as stream:
            stream.write(self.svg.encode("utf-8") + b"\n")


def to_picture(
    parsed: Sentence | Iterable[tuple[Sentence, Parse]],
    parse: Parse | None = None,
    *,
    max_width: float | None = None,
) -> Picture:
    """Draw a sentence, or the result of `Parser.annotate_text`, one sentence below the other.

    Wider pictures shrink to `max_width` pixels each.
    """
    refuse(parsed, (str, bytes), "show takes a sentence, or the result of Parser.annotate_text")
    pairs = [(parsed, parse)] if isinstance(parsed, Sentence) else parsed
    drawn = [to_svg(*pair, max_width=max_width) for pair in pairs]
    return Picture(stack_svgs(drawn or [to_svg(sentence_from_words([], []))]))
