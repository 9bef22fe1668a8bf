"""What an arc is called: the twelve labels of Penn2Malt's own style ("Malt"), by rules.

    ROOT  the head of the sentence         NMOD  modifier of a noun
    SUB   subject                          AMOD  modifier of an adjective or adverb
    OBJ   object                           PMOD  complement or modifier of a preposition
    PRD   predicative complement           VMOD  modifier of a verb
    VC    verb chain                       SBAR  clause under its complementiser
    P     punctuation                      DEP   any other

The program documents that -SBJ and -PRD of the treebank count and that a noun phrase in a verb
phrase is an object unless it is tagged as an adverbial; its sources are closed. The rest is
inferred from its published output: the phrase in which the two words meet gives the label. The
choice where no output is known (QP, adverbs in SBAR, phrases of CTB alone) is ours.
"""

from headwise.convert.brackets import Node
from headwise.convert.heads import PUNCTUATION, category, functions

ROOT = "ROOT"
LABELS = (
    ROOT, "SUB", "OBJ", "PRD", "VC", "P", "NMOD", "AMOD", "PMOD", "VMOD", "SBAR", "DEP",
)  # fmt: skip
_ADVERBIAL = frozenset({"ADV", "BNF", "CND", "DIR", "EXT", "LOC", "MNR", "PRP", "TMP", "VOC"})
_OBJECT = frozenset({"OBJ", "IO"})
_CLAUSES = frozenset({"S", "SQ", "SINV", "SBARQ", "FRAG"})
_MODIFIERS = {
    "NMOD": "NP NX NAC NML WHNP QP NN DP",
    "AMOD": "ADJP ADVP WHADJP WHADVP JJP",
    "PMOD": "PP WHPP",
    "VMOD": "VP S SQ SINV SBARQ RRC IP CP VCD VCP VNV VPT VRD VSB",
}
_BY_PHRASE = {phrase: label for label, them in _MODIFIERS.items() for phrase in them.split()}


def arc_label(phrase: Node, head: Node, dependent: Node) -> str:
    """Name the arc between two children of `phrase`; `head` is the one that was chosen."""
    own = category(dependent.label)
    if own in PUNCTUATION and dependent.word is not None:
        return "P"
    return _by_function(phrase, head, dependent, own) or _by_phrase(category(phrase.label), own)


def _by_function(phrase: Node, head: Node, dependent: Node, own: str) -> str | None:
    """Name an argument of a verb. An adverbial tag comes first: NP-LOC-PRD is no PRD."""
    tags = set(functions(dependent.label))
    if "SBJ" in tags:
        return "SUB"
    if tags & _ADVERBIAL:
        return None
    if "PRD" in tags:
        return "PRD"
    if tags & _OBJECT or (own == "NP" and category(phrase.label) == "VP"):
        return "OBJ"
    return "VC" if own == "VP" and _is_verb(head) else None


def _is_verb(node: Node) -> bool:
    """Tell whether a node is a verb itself; a verb phrase is not, so conjuncts are no chain."""
    return node.word is not None and node.label.startswith(("V", "MD", "AUX"))


def _by_phrase(phrase: str, own: str) -> str:
    if phrase == "SBAR":
        return "SBAR" if own in _CLAUSES else "AMOD" if own in ("RB", "ADVP") else "DEP"
    return _BY_PHRASE.get(phrase, "DEP")
