"""A picture that a notebook shows by itself.

    headwise.show(parser.annotate_text("Kids love candy. So do I."))

as the last line of a cell draws the trees; nothing here needs the notebook.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from headwise.errors import refuse
from headwise.files import open_target
from headwise.render.svg import stack_svgs, to_svg
from headwise.treebank.sentence import Parse, Sentence, sentence_from_words

_NO_SENTENCE = sentence_from_words([], [])
"""What an empty text looks like."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One SVG picture of one or more sentences."""

    svg: str

    def _repr_svg_(self) -> str:
        """Show it in a notebook."""
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture: {len(self.svg):,} characters of SVG>"

    def save(self, path: str | Path) -> None:
        """Write it to a file, whole or not at all."""
        with open_target(path) as stream:
            stream.write(self.svg.encode("utf-8") + b"\n")


def show(
    what: Sentence | Iterable[tuple[Sentence, Parse]],
    parse: Parse | None = None,
    *,
    max_width: float | None = None,
) -> Picture:
    """Draw a sentence, or what `Parser.annotate_text` gives, one sentence below the other.

    Wider pictures shrink to `max_width` pixels each.
    """
    instead = "show takes a sentence, or what Parser.annotate_text gives for a text"
    refuse(what, (str, bytes), instead)
    pairs = [(what, parse)] if isinstance(what, Sentence) else what
    drawn = [to_svg(*pair, max_width=max_width) for pair in pairs]
    return Picture(stack_svgs(drawn or [to_svg(_NO_SENTENCE)]))
