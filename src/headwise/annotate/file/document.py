"""The sentences of a file as an array of blocks, the edits to it, undo and redo.

A block is the CoNLL-U of a sentence, including the blank line. An edit is a splice: it replaces
some blocks by others. This covers everything: changing a sentence, splitting one, joining two.
Every splice remembers what it replaced, so undo and redo are splices too, without limit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec


class Splice(msgspec.Struct, frozen=True):
    """Replace `remove` blocks from `at` on by others."""

    at: int
    remove: int
    insert: tuple[str, ...]


@dataclass(slots=True)
class EditedDocument:
    """Blocks, and the edits that made them so.

    `seq` counts all operations, including undo and redo, and is never reused: it identifies the
    state.
    """

    blocks: list[str]
    seq: int = 0
    _done: list[tuple[Splice, Splice]] = field(default_factory=list)
    """Edits that can be undone, each with its inverse."""
    _undone: list[tuple[Splice, Splice]] = field(default_factory=list)

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to undo."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether there is an edit to do again."""
        return bool(self._undone)

    def fits(self, splice: Splice) -> bool:
        """Return whether the blocks that a splice replaces exist."""
        return 0 <= splice.at <= splice.at + splice.remove <= len(self.blocks)

    def edit(self, splice: Splice) -> None:
        """Apply an edit that fits; what could be redone is dropped."""
        removed = tuple(self.blocks[splice.at : splice.at + splice.remove])
        inverse = Splice(splice.at, len(splice.insert), removed)
        self._apply(splice)
        self._done.append((splice, inverse))
        self._undone.clear()

    def undo(self) -> Splice:
        """Take back the last edit; return the splice that did it."""
        edit, inverse = self._done.pop()
        self._undone.append((edit, inverse))
        self._apply(inverse)
        return inverse

    def redo(self) -> Splice:
        """Apply the edit that was taken back last; return it."""
        edit, inverse = self._undone.pop()
        self._done.append((edit, inverse))
        self._apply(edit)
        return edit

    def _apply(self, splice: Splice) -> None:
        self.blocks[splice.at : splice.at + splice.remove] = splice.insert
        self.seq += 1


def join_blocks(blocks: Sequence[str]) -> Iterable[str]:
    """Put blocks together as a file; only the last may lack the blank line at its end."""
    for block in blocks[:-1]:
        yield block if ends_blank(block) else f"{block.rstrip(chr(10))}\n\n"
    yield from blocks[-1:]


def ends_blank(block: str) -> bool:
    """Return whether a block ends with a blank line."""
    if not block.endswith("\n"):
        return False
    return not block[:-1].rpartition("\n")[2].strip(" \t\r")


def difference(mine: Sequence[str], theirs: Sequence[str]) -> Splice:
    """Find the smallest splice that turns the one array of blocks into the other."""
    most = min(len(mine), len(theirs))
    start = next((i for i in range(most) if mine[i] != theirs[i]), most)
    end = next((i for i in range(most - start) if mine[-1 - i] != theirs[-1 - i]), most - start)
    return Splice(start, len(mine) - end - start, tuple(theirs[start : len(theirs) - end]))
