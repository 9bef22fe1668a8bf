"""From a bracketed tree to a sentence with heads and labels, by the method of Penn2Malt.

Every phrase has a head child, and its head word is that of the head child. The head words of the
other children depend on it, and the head word of the whole tree depends on ROOT. So there is always
exactly one root, no cycle, and no crossing arc.

Example: in `(S (NP-SBJ (NNS Kids)) (VP (VBP love) (NP (NN candy))))` the head child of S is VP and
that of VP is VBP; Kids (SUB) and candy (OBJ) depend on love.
"""

import re
from dataclasses import replace

from headwise.convert.brackets import PhraseTree
from headwise.convert.heads import HeadRules, category, remove_empty
from headwise.convert.labels import ROOT_LABEL, arc_label
from headwise.settings.choices import Format
from headwise.treebank.sentence import BLANK, Sentence, sentence_from_words

_COLUMNS = ("form", "upos", "xpos", "head", "deprel")
_BRACKETS = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
}  # fmt: skip
_ESCAPED = re.compile(r"\\([/*])")
_NOT_IN_ID = re.compile(r"[^\w.-]")


def tree_to_sentence(
    tree: PhraseTree,
    rules: HeadRules,
    form: Format = "conllu",
    sentence_id: str = "",
    unescape: bool = False,
) -> Sentence | None:
    """Convert a tree; None if it has traces only.

    The tag becomes XPOS, and in CoNLL-X, which has no universal tags, also CPOSTAG. In CoNLL-U
    `sentence_id` becomes a comment. With `unescape`, -LRB- becomes a bracket again.
    """
    words = remove_empty(tree)
    if words is None:
        return None
    heads, labels = find_arcs(words, rules)
    leaves = [node for node in words.nodes if node.word is not None]
    rows = [
        (
            _unescape(str(leaf.word)) if unescape else str(leaf.word),
            leaf.label if form == "conllx" else BLANK,
            leaf.label,
            str(head),
            label,
        )
        for leaf, head, label in zip(leaves, heads, labels, strict=True)
    ]
    has_comment = form == "conllu" and sentence_id
    comments = [f"# sent_id = {_NOT_IN_ID.sub('_', sentence_id)}"] if has_comment else []
    sentence = sentence_from_words(rows, _COLUMNS, comments)
    return replace(sentence, source=tree.source, first_line=tree.first_line)


def find_arcs(tree: PhraseTree, rules: HeadRules) -> tuple[list[int], list[str]]:
    """Find the head (1..N, 0 for ROOT) and the label of each word of a tree without traces."""
    nodes, children = tree.nodes, tree.children()
    head_word = [0] * len(nodes)
    n_words = 0
    for index, node in enumerate(nodes):
        if node.word is not None:
            n_words += 1
            head_word[index] = n_words
    heads, labels = [0] * (n_words + 1), [ROOT_LABEL] * (n_words + 1)
    for index in range(len(nodes) - 1, -1, -1):  # children come after their parent
        phrase, its_children = nodes[index], children[index]
        if not its_children:
            continue
        categories = [category(nodes[child].label) for child in its_children]
        head = its_children[rules.choose(category(phrase.label), categories)]
        head_word[index] = head_word[head]
        for child in its_children:
            if child != head:
                heads[head_word[child]] = head_word[head]
                labels[head_word[child]] = arc_label(phrase, nodes[head], nodes[child])
    return heads[1:], labels[1:]


def _unescape(word: str) -> str:
    return _BRACKETS.get(word) or _ESCAPED.sub(r"\1", word)
