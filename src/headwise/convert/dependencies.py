"""A bracketed tree becomes a sentence with heads and labels: the method of Penn2Malt.

Every phrase has a head child, so every phrase has a head word: that of its head child. The head
words of the other children depend on it, and the head word of the whole tree depends on ROOT. So
there is always one root, no cycle, and no crossing arc.

Example: in `(S (NP-SBJ (NNS Kids)) (VP (VBP love) (NP (NN candy))))` the head child of S is VP and
that of VP is VBP; Kids (SUB) and candy (OBJ) depend on love.
"""

import re

from headwise.convert.brackets import Tree
from headwise.convert.heads import HeadRules, category, without_empty
from headwise.convert.labels import ROOT, arc_label
from headwise.settings.choices import Format
from headwise.treebank.sentence import BLANK, Sentence, sentence_from_words

_COLUMNS = ("form", "upos", "xpos", "head", "deprel")
_BRACKETS = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
}  # fmt: skip
_ESCAPED = re.compile(r"\\([/*])")
_NOT_IN_ID = re.compile(r"[^\w.-]")


def to_sentence(
    tree: Tree,
    rules: HeadRules,
    form: Format = "conllu",
    sentence_id: str = "",
    unescape: bool = False,
) -> Sentence | None:
    """Convert a tree; None if it has no words but traces.

    The tag is XPOS as it is written; CoNLL-X, which knows no universal tags, has it as CPOSTAG
    too. In CoNLL-U a `sentence_id` becomes a comment. With `unescape`, -LRB- is a bracket again.
    """
    words = without_empty(tree)
    if words is None:
        return None
    heads, labels = find_arcs(words, rules)
    leaves = [node for node in words.nodes if node.word is not None]
    rows = [
        (
            _unescaped(str(leaf.word)) if unescape else str(leaf.word),
            leaf.label if form == "conllx" else BLANK,
            leaf.label,
            str(head),
            label,
        )
        for leaf, head, label in zip(leaves, heads, labels, strict=True)
    ]
    plain = sentence_from_words(rows, _COLUMNS)
    if form == "conllx" or not sentence_id:
        return Sentence(plain.words, plain.lines, plain.rows, tree.source, tree.first_line)
    comment = f"# sent_id = {_NOT_IN_ID.sub('_', sentence_id)}\n"
    rows_below = tuple(row + 1 for row in plain.rows)
    return Sentence(plain.words, (comment, *plain.lines), rows_below, tree.source, tree.first_line)


def find_arcs(tree: Tree, rules: HeadRules) -> tuple[list[int], list[str]]:
    """Find the head (1..N, 0 for ROOT) and the label of each word of a tree without traces."""
    nodes, children = tree.nodes, tree.children()
    head_word = [0] * len(nodes)
    n_words = 0
    for place, node in enumerate(nodes):
        if node.word is not None:
            n_words += 1
            head_word[place] = n_words
    heads, labels = [0] * (n_words + 1), [ROOT] * (n_words + 1)
    for place in range(len(nodes) - 1, -1, -1):  # children come after their parent
        phrase, them = nodes[place], children[place]
        if not them:
            continue
        categories = [category(nodes[child].label) for child in them]
        head = them[rules.choose(category(phrase.label), categories)]
        head_word[place] = head_word[head]
        for child in them:
            if child != head:
                heads[head_word[child]] = head_word[head]
                labels[head_word[child]] = arc_label(phrase, nodes[head], nodes[child])
    return heads[1:], labels[1:]


def _unescaped(word: str) -> str:
    return _BRACKETS.get(word) or _ESCAPED.sub(r"\1", word)
