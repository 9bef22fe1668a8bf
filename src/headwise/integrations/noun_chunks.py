"""`doc.noun_chunks` for labels of Universal Dependencies, in any language.

spaCy's own rules expect the labels of its models: for English `dobj`, `pobj` and `prep`, which are
not those of Universal Dependencies. Here a chunk is a base noun phrase: a noun, proper noun,
pronoun or sum of money with its determiners, adjectives, numbers, compounds, possessors and the
rest of its name. Prepositions, relative clauses, appositions and other conjuncts stay outside;
nouns among them have chunks of their own. No chunk is inside another.

Example: `the old man 's dog` and `Paris` are the chunks of `the old man 's dog in Paris`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from spacy.symbols import NOUN, PRON, PROPN, SYM
from spacy.tokens import Doc, Span, Token
from spacy.vocab import Vocab

from headwise.treebank.universal import UNIVERSAL_RELATIONS

Chunk: TypeAlias = tuple[int, int, int]
"""The first token, the token after the last, and the id of the name `NP`."""
ChunkRules: TypeAlias = Callable[[Doc | Span], Iterator[Chunk]]
_NOMINAL = frozenset([NOUN, PROPN, PRON])
_INNER = frozenset(["det", "amod", "nummod", "clf", "compound", "flat", "fixed", "goeswith"])
"""Relations of words that belong to the chunk of their head."""
_NO_HEAD = _INNER | {"case", "mark", "cc", "aux", "cop", "punct", "advmod", "discourse", "expl"}
"""Relations of words that have no chunk of their own, even if they are nouns or pronouns."""
_NO_START = frozenset(["case", "mark", "cc", "punct"])
"""Relations of words that no chunk starts with, even if they belong to a modifier."""
_SIMPLE = _INNER | {"advmod", "punct", "cc", "conj"}
"""Relations inside of a modifier after its noun. `proud of it` has others, and is left out."""


@dataclass(frozen=True, slots=True)
class NounChunks:
    """The rules of a vocabulary: ours for universal labels, `others` for all others.

    A pipeline may have another parser besides, and documents without our labels keep its rules.
    """

    others: ChunkRules | None

    def __call__(self, doclike: Doc | Span) -> Iterator[Chunk]:
        """Find the chunks of a document or a span."""
        if _is_universal(doclike):
            return find_noun_chunks(doclike)
        if self.others is None:
            raise NotImplementedError("noun chunks need a parse with labels of UD; none was found")
        return self.others(doclike)


def use_noun_chunks(owner: Doc | Vocab) -> None:
    """Let a document, or those that are made with a vocabulary from now on, use these rules."""
    name = "noun_chunks_iterator" if isinstance(owner, Doc) else "get_noun_chunks"
    rules = getattr(owner, name)
    if not isinstance(rules, NounChunks):
        setattr(owner, name, NounChunks(rules))


def find_noun_chunks(doclike: Doc | Span) -> Iterator[Chunk]:
    """Find the base noun phrases of a parse with universal labels, in order."""
    name = doclike.vocab.strings.add("NP")
    # Where one chunk is inside another, the outer one comes first and the inner one is dropped.
    spans = sorted((_start(head), -_end(head)) for head in filter(_is_head, doclike))
    last_end = 0
    for start, negative_end in spans:
        if start >= last_end:
            last_end = -negative_end
            yield start, last_end, name


def _is_universal(doclike: Doc | Span) -> bool:
    """Return whether all labels are universal; spaCy's models call the root `ROOT`."""
    return all(_kind(token) in UNIVERSAL_RELATIONS for token in doclike)


def _kind(token: Token) -> str:
    """Return the label without its subtype."""
    return token.dep_.partition(":")[0]


def _is_head(token: Token) -> bool:
    """Return whether a word may be the head of a chunk; `$` may if it has a number."""
    if token.pos == SYM:
        return any(_kind(child) == "nummod" for child in token.children)
    return token.pos in _NOMINAL and _kind(token) not in _NO_HEAD


def _start(head: Token) -> int:
    """Find the first token: modifiers that touch each other, from the head to the left.

    Adverbs and punctuation are passed if a modifier follows (`a big, bad wolf`), so that `not` in
    `she is not a doctor` stays outside.
    """
    start = edge = head.i
    for child in reversed(list(head.lefts)):
        if child.right_edge.i + 1 != edge:
            break
        edge = child.left_edge.i
        if _is_inner(child):
            start = edge
        elif not (child.is_space or _kind(child) in ("advmod", "punct")):
            break
    while start < head.i and (head.doc[start].is_space or _kind(head.doc[start]) in _NO_START):
        start += 1
    return start


def _is_inner(child: Token) -> bool:
    """Return whether a word before its head is in its chunk: no prepositions, but possessors."""
    if _kind(child) != "nmod":
        return _kind(child) in _INNER
    has_case = any(_kind(word) == "case" for word in child.children)
    return child.dep_ == "nmod:poss" or not has_case


def _end(head: Token) -> int:
    """Find the token after the last: names, and modifiers without complements, to the right."""
    end = edge = head.i + 1
    has_passed = False
    for child in head.rights:
        kind = _kind(child)
        if child.left_edge.i != edge:
            break
        edge = child.right_edge.i + 1
        if child.is_space:
            continue
        if kind == "flat" or (kind in _INNER and not has_passed and _is_simple(child)):
            end = edge
        elif kind == "punct":
            has_passed = True
        else:
            break
    while head.doc[end - 1].is_space:
        end -= 1
    return end


def _is_simple(child: Token) -> bool:
    words = (word for word in child.subtree if word != child and not word.is_space)
    return child.dep_ != "compound:prt" and all(_kind(word) in _SIMPLE for word in words)
