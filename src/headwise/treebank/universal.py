"""The tags and relations of Universal Dependencies, version 2, which every language shares."""

UNIVERSAL_TAGS = frozenset(
    ("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN",
     "PUNCT", "SCONJ", "SYM", "VERB", "X")
)  # fmt: skip
UNIVERSAL_RELATIONS = frozenset(
    ("acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound",
     "conj", "cop", "csubj", "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat",
     "goeswith", "iobj", "list", "mark", "nmod", "nsubj", "nummod", "obj", "obl", "orphan",
     "parataxis", "punct", "reparandum", "root", "vocative", "xcomp")
)  # fmt: skip
"""Labels without their subtype: `obl` for `obl:tmod`."""
