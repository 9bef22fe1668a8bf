"""From a bracketed tree to a sentence with heads and labels, by the method of Penn2Malt.

Every phrase has a head child, and its head word is that of the head child. The head words of the
other children depend on it, and the head word of the whole tree depends on ROOT. So there is always
exactly one root, no cycle, and no crossing arc.

Example: in `(S (NP-SBJ (NNS Kids)) (VP (VBP love) (NP (NN candy))))` the head child of S is VP and
that of VP is VBP; Kids (SUB) and candy (OBJ) depend on love.

Arcs have the twelve labels of Penn2Malt's own style ("Malt"), by rules:

    ROOT  the head of the sentence         NMOD  modifier of a noun
    SUB   subject                          AMOD  modifier of an adjective or adverb
    OBJ   object                           PMOD  complement or modifier of a preposition
    PRD   predicative complement           VMOD  modifier of a verb
    VC    verb chain                       SBAR  clause under its complementiser
    P     punctuation                      DEP   any other

Penn2Malt documents that -SBJ and -PRD of the treebank count, and that a noun phrase in a verb
phrase is an object unless it is tagged as an adverbial; its source code is not public. The other
rules are inferred from its published output: the phrase in which the two words meet gives the
label. Where no output is known (QP, adverbs in SBAR, phrases of CTB only), the choice is ours.
"""

import re
from dataclasses import replace

from headwise.convert.brackets import Node, PhraseTree
from headwise.convert.heads import PUNCTUATION, HeadRules, category, functions, remove_empty
from headwise.settings.choices import Format
from headwise.treebank.sentence import BLANK, Sentence, sentence_from_words

_COLUMNS = ("form", "upos", "xpos", "head", "deprel")
_BRACKETS = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
}  # fmt: skip
_ESCAPED = re.compile(r"\\([/*])")
_NOT_IN_ID = re.compile(r"[^\w.-]")
_ADVERBIAL = frozenset({"ADV", "BNF", "CND", "DIR", "EXT", "LOC", "MNR", "PRP", "TMP", "VOC"})
_OBJECT = frozenset({"OBJ", "IO"})
_CLAUSES = frozenset({"S", "SQ", "SINV", "SBARQ", "FRAG"})
_MODIFIERS = {
    "NMOD": "NP NX NAC NML WHNP QP NN DP",
    "AMOD": "ADJP ADVP WHADJP WHADVP JJP",
    "PMOD": "PP WHPP",
    "VMOD": "VP S SQ SINV SBARQ RRC IP CP VCD VCP VNV VPT VRD VSB",
}
_BY_PHRASE = {p: label for label, phrases in _MODIFIERS.items() for p in phrases.split()}


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
    heads, labels = [0] * (n_words + 1), ["ROOT"] * (n_words + 1)
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
                labels[head_word[child]] = _arc_label(phrase, nodes[head], nodes[child])
    return heads[1:], labels[1:]


def _unescape(word: str) -> str:
    return _BRACKETS.get(word) or _ESCAPED.sub(r"\1", word)


def _arc_label(phrase: Node, head: Node, dependent: Node) -> str:
    """Label the arc from `head` to `dependent`, both children of `phrase`."""
    kind, where = category(dependent.label), category(phrase.label)
    if kind in PUNCTUATION and dependent.word is not None:
        return "P"
    if label := _argument_label(where, head, dependent, kind):
        return label
    if where == "SBAR":
        return "SBAR" if kind in _CLAUSES else "AMOD" if kind in ("RB", "ADVP") else "DEP"
    return _BY_PHRASE.get(where, "DEP")


def _argument_label(phrase: str, head: Node, dependent: Node, kind: str) -> str | None:
    """Label an argument of a verb. Adverbial tags take precedence: NP-LOC-PRD is not a PRD."""
    tags = set(functions(dependent.label))
    if "SBJ" in tags:
        return "SUB"
    if tags & _ADVERBIAL:
        return None
    if "PRD" in tags:
        return "PRD"
    if tags & _OBJECT or (kind == "NP" and phrase == "VP"):
        return "OBJ"
    # A verb phrase is not a verb here, so conjuncts do not form a chain.
    head_is_verb = head.word is not None and head.label.startswith(("V", "MD", "AUX"))
    return "VC" if kind == "VP" and head_is_verb else None
