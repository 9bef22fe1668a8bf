"""Small sentences made by hand or by hypothesis, for the tests of `headwise.evaluate`."""

from hypothesis import strategies as st

from headwise.treebank.sentence import Sentence, sentence_from_words

LABELS = ("nsubj", "nsubj:pass", "obj", "punct")


def tree(*arcs: tuple[int, str], forms: str = "", upos: str = "", xpos: str = "") -> Sentence:
    """Make a sentence of (head, label) pairs; forms and tags are separated by spaces."""
    n_words = len(arcs)
    columns = [text.split() or ["_"] * n_words for text in (forms, upos, xpos)]
    if not forms:
        columns[0] = [f"w{i}" for i in range(n_words)]
    rows = [
        (form, tag, fine_tag, str(head), label)
        for form, tag, fine_tag, (head, label) in zip(*columns, arcs, strict=True)
    ]
    return sentence_from_words(rows, ["form", "upos", "xpos", "head", "deprel"])


@st.composite
def sentences(draw: st.DrawFn, n_words: int) -> Sentence:
    """Draw arcs, a tree or not, for `n_words` words of which some are tagged PUNCT."""
    arcs = [(draw(st.integers(0, n_words)), draw(st.sampled_from(LABELS))) for _ in range(n_words)]
    return tree(*arcs, upos=" ".join(["NOUN"] + ["PUNCT"] * (n_words - 1)))


@st.composite
def paired_treebanks(draw: st.DrawFn) -> tuple[list[Sentence], list[Sentence]]:
    """Draw two annotations of the same words."""
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=12))
    return [draw(sentences(n)) for n in lengths], [draw(sentences(n)) for n in lengths]
