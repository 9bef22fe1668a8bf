"""Texts cut into words at random, and real output cut anew, for the tests of scores by alignment.

Everything made here is a tree with one root in every sentence, so that the official scorer of
Universal Dependencies accepts it.
"""

import io
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from headwise.evaluate.metrics import ROOT_INDEX
from headwise.treebank.conllu import read_sentences
from headwise.treebank.sentence import Sentence, Word

BLANK_WORD = Word("_", "_", "_", "_", "_", "_", "_", "_", "_", "_")
PLAIN_WORD = BLANK_WORD._replace(upos="X", head="0", deprel="dep")
LABELS = ("nsubj", "nsubj:pass", "obl", "obl:unmarked", "conj", "punct", "case", "det", "aux:pass")
TAGS = ("NOUN", "VERB", "ADP", "PUNCT")
FEATS = ("_", "Number=Sing", "Case=Nom|Number=Sing", "Number=Sing|Typo=Yes")


@dataclass(frozen=True)
class Piece:
    """A token: its form, its words, which words they were before, and where those hang."""

    form: str
    words: tuple[Word, ...]
    origins: tuple[int, ...]
    heads: tuple[int, ...]
    is_multi_word: bool
    ends_sentence: bool


def read(name: str, text: str) -> list[Sentence]:
    stream = io.BytesIO(text.encode())
    stream.name = name  # type: ignore[attr-defined]  # so that messages can name it
    return list(read_sentences(stream))


def spell(name: str, text: str) -> list[Sentence]:
    """Read tokens such as `form`, `form/2/nsubj` or `al=a/3/case+el`; `|` ends a sentence.

    Words hang on ROOT and are called `dep` where nothing else is said.
    """
    lines = []
    for block in text.split("|"):
        n_words = 0
        for token in block.split():
            form, is_multi_word, inner = token.partition("=")
            words = []
            for word in inner.split("+") if is_multi_word else [token]:
                given = dict(zip(("form", "head", "deprel"), word.split("/"), strict=False))
                words.append(PLAIN_WORD._replace(**given))
            lines += _token_lines(form, words, n_words, bool(is_multi_word))
            n_words += len(words)
        lines.append("")
    return read(name, "\n".join(lines) + "\n")


def _token_lines(form: str, words: Sequence[Word], n_before: int, is_multi_word: bool) -> list[str]:
    numbered = [word._replace(id=str(i)) for i, word in enumerate(words, n_before + 1)]
    if is_multi_word:
        span = f"{n_before + 1}-{n_before + len(words)}"
        numbered.insert(0, BLANK_WORD._replace(id=span, form=form))
    return ["\t".join(word) for word in numbered]


def pieces_of(sentences: Sequence[Sentence]) -> list[Piece]:
    """Take sentences apart."""
    found = []
    n_before = 0
    for sentence in sentences:
        heads = [head - 1 + n_before if head else ROOT_INDEX for head in sentence.gold_heads()]
        for token in sentence.tokens:
            words = slice(token.first - 1, token.last)
            found.append(
                Piece(
                    form=token.form,
                    words=sentence.words[words],
                    origins=tuple(range(n_before + token.first - 1, n_before + token.last)),
                    heads=tuple(heads[words]),
                    is_multi_word=token.is_multi_word,
                    ends_sentence=token.last == len(sentence),
                )
            )
        n_before += len(sentence)
    return found


def cut_anew(sentences: Sequence[Sentence], rng: random.Random, share: float) -> str:
    """Merge and split words and sentences, and change annotation, each with the chance `share`."""
    pieces: list[Piece] = []
    for piece in pieces_of(sentences):
        if rng.random() < share:
            pieces += _split(piece, rng)
        elif pieces and not pieces[-1].ends_sentence and rng.random() < share:
            pieces.append(_merge(pieces.pop(), piece, rng.random() < 0.5))
        else:
            pieces.append(piece)
    for i, piece in enumerate(pieces):
        chance = share if piece.ends_sentence else share / 10
        ends_sentence = piece.ends_sentence != (rng.random() < chance)
        pieces[i] = replace(_annotate_anew(piece, rng, share), ends_sentence=ends_sentence)
    return write(pieces, rng)


def annotate_anew(sentences: Sequence[Sentence], rng: random.Random, share: float) -> str:
    """Keep words and sentences, and change columns and heads, each with the chance `share`."""
    pieces = []
    for piece in pieces_of(sentences):
        heads = tuple(
            max(0, origin + rng.randint(-4, 4)) if rng.random() < share else head
            for origin, head in zip(piece.origins, piece.heads, strict=True)
        )
        pieces.append(_annotate_anew(replace(piece, heads=heads), rng, share))
    return write(pieces, rng)


def _split(piece: Piece, rng: random.Random) -> list[Piece]:
    """Cut a token in two, into two words of one token, or make one word of many."""
    if piece.is_multi_word and rng.random() < 0.5:
        return [_one_word(piece, 0, piece.form, piece.ends_sentence)]
    if len(piece.form) < 2:
        return [piece]
    at = rng.randrange(1, len(piece.form))
    halves = [form for form in (piece.form[:at].strip(), piece.form[at:].strip()) if form]
    if len(halves) < 2:
        return [piece]
    one, two = _one_word(piece, 0, halves[0], False), _one_word(piece, -1, halves[1], False)
    if rng.random() < 0.5:
        return [one, replace(two, ends_sentence=piece.ends_sentence)]
    return [_merge(one, replace(two, ends_sentence=piece.ends_sentence), True)]


def _one_word(piece: Piece, index: int, form: str, ends_sentence: bool) -> Piece:
    word = piece.words[index]._replace(form=form)
    origins, heads = (piece.origins[index],), (piece.heads[index],)
    return Piece(form, (word,), origins, heads, False, ends_sentence)


def _merge(one: Piece, two: Piece, keep_words: bool) -> Piece:
    form = one.form + two.form
    if not keep_words:
        return _one_word(one, 0, form, two.ends_sentence)
    words, origins = one.words + two.words, one.origins + two.origins
    return Piece(form, words, origins, one.heads + two.heads, True, two.ends_sentence)


def _annotate_anew(piece: Piece, rng: random.Random, share: float) -> Piece:
    columns = {"upos": TAGS, "xpos": TAGS, "feats": FEATS, "lemma": ("_", "be"), "deprel": LABELS}
    words = []
    for word in piece.words:
        changes = {
            name: rng.choice(values) for name, values in columns.items() if rng.random() < share
        }
        words.append(word._replace(**changes))
    return replace(piece, words=tuple(words))


def write(pieces: Sequence[Piece], rng: random.Random) -> str:
    """Write CoNLL-U, heads where they were if that leaves a tree, and elsewhere if not."""
    lines: list[str] = []
    block: list[Piece] = []
    for piece in [*pieces[:-1], replace(pieces[-1], ends_sentence=True)]:
        block.append(piece)
        if piece.ends_sentence:
            lines += _sentence_lines(block, rng)
            block = []
    return "".join(line + "\n" for line in lines)


def _sentence_lines(block: Sequence[Piece], rng: random.Random) -> list[str]:
    heads = iter(_one_tree(block, rng))
    lines = []
    n_words = 0
    for piece in block:
        words = [w._replace(head=str(next(heads)), deps="_", misc="_") for w in piece.words]
        lines += _token_lines(piece.form, words, n_words, piece.is_multi_word)
        n_words += len(words)
    return [*lines, ""]


def _one_tree(block: Sequence[Piece], rng: random.Random) -> list[int]:
    origins = [origin for piece in block for origin in piece.origins]
    old_heads = [head for piece in block for head in piece.heads]
    places = {origin: place for place, origin in enumerate(origins, 1)}
    root = (
        old_heads.index(ROOT_INDEX) + 1 if ROOT_INDEX in old_heads else rng.randint(1, len(origins))
    )
    heads = [0] * (len(origins) + 1)
    for word, old_head in enumerate(old_heads, 1):
        if word == root:
            continue
        head = places.get(old_head, root)
        step = head
        while step not in (0, word):
            step = heads[step]
        heads[word] = root if step == word else head
    return heads[1:]


@st.composite
def paired_texts(draw: st.DrawFn, multi_words: bool = True) -> tuple[str, str]:
    """Draw a text over few characters and cut it twice, so that all kinds of overlap are met."""
    text = draw(st.text("abA", min_size=1, max_size=16))
    return draw(_cut_texts(text, multi_words)), draw(_cut_texts(text, multi_words))


@st.composite
def _cut_texts(draw: st.DrawFn, text: str, multi_words: bool) -> str:
    rng = random.Random(draw(st.integers(0, 2**32)))
    pieces = []
    start = 0
    while start < len(text):
        end = draw(st.integers(start + 1, min(len(text), start + 5)))
        is_multi_word = multi_words and draw(st.booleans())
        inner = st.lists(st.text("abB", min_size=1, max_size=2), min_size=1, max_size=3)
        forms = draw(inner) if is_multi_word else [text[start:end]]
        words = tuple(PLAIN_WORD._replace(form=form) for form in forms)
        heads = tuple(draw(st.integers(ROOT_INDEX, 8)) for _ in words)
        ends = draw(st.booleans())
        origins = tuple(range(start, start + len(words)))
        piece = Piece(text[start:end], words, origins, heads, is_multi_word, ends)
        pieces.append(_annotate_anew(piece, rng, 0.5))
        start = end
    return write(pieces, rng)
