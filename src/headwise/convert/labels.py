"""Arc labels: the twelve labels of Penn2Malt's own style ("Malt"), by rules.

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

from headwise.convert.brackets import Node
from headwise.convert.heads import PUNCTUATION, category, functions

ROOT_LABEL = "ROOT"
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


def arc_label(phrase: Node, head: Node, dependent: Node) -> str:
    """Label the arc from `head` to `dependent`, both children of `phrase`."""
    kind = category(dependent.label)
    if kind in PUNCTUATION and dependent.word is not None:
        return "P"
    return _by_function(phrase, head, dependent, kind) or _by_phrase(category(phrase.label), kind)


def _by_function(phrase: Node, head: Node, dependent: Node, kind: str) -> str | None:
    """Label an argument of a verb. Adverbial tags take precedence: NP-LOC-PRD is not a PRD."""
    tags = set(functions(dependent.label))
    if "SBJ" in tags:
        return "SUB"
    if tags & _ADVERBIAL:
        return None
    if "PRD" in tags:
        return "PRD"
    if tags & _OBJECT or (kind == "NP" and category(phrase.label) == "VP"):
        return "OBJ"
    return "VC" if kind == "VP" and _is_verb(head) else None


def _is_verb(node: Node) -> bool:
    """Tell whether a node is a verb; a verb phrase is not, so conjuncts do not form a chain."""
    return node.word is not None and node.label.startswith(("V", "MD", "AUX"))


def _by_phrase(phrase: str, kind: str) -> str:
    if phrase == "SBAR":
        return "SBAR" if kind in _CLAUSES else "AMOD" if kind in ("RB", "ADVP") else "DEP"
    return _BY_PHRASE.get(phrase, "DEP")
