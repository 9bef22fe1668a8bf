"""Random trees, and the shortest way from text to trees."""

import io

from hypothesis import settings
from hypothesis import strategies as st

from headwise.convert.brackets import Node, PhraseTree, read_trees

FIXED = settings(max_examples=150, deadline=None, derandomize=True, database=None)
_LABELS = "S NP VP SBAR PP QP NP-SBJ-1 NP-TMP ADJP-PRD X IP CP DNP PRN NP=2 SQ UCP FRAG"
_TAGS = "NN NNS VBD MD IN DT , . : CC -NONE- -LRB- PU VV NR POS TO $ JJ|NN"
LABEL = st.sampled_from(_LABELS.split())
TAG = st.sampled_from(_TAGS.split())
WORD = st.sampled_from(["a", "dog", "*-1", "0", "-LRB-", "1\\/2", "狗", "<S", "_", "#"]) | st.text(
    st.characters(exclude_characters="() \t\n\r\x0b\x0c", exclude_categories=["Cs"]),
    min_size=1,
    max_size=4,
)


@st.composite
def trees(draw: st.DrawFn, max_nodes: int = 30) -> PhraseTree:
    """Draw parents for a row of nodes; whoever has no children at the end is a word."""
    n_nodes = draw(st.integers(2, max_nodes))
    last_path, parents = [0], [-1]
    for place in range(1, n_nodes):
        parent = draw(st.sampled_from(last_path))
        last_path = [*last_path[: last_path.index(parent) + 1], place]
        parents.append(parent)
    phrases = set(parents)
    nodes = [
        Node(draw(LABEL), parent) if place in phrases else Node(draw(TAG), parent, draw(WORD))
        for place, parent in enumerate(parents)
    ]
    if draw(st.booleans()):
        nodes[0] = nodes[0]._replace(label="")
    return PhraseTree(tuple(nodes))


def read(text: str | bytes, encoding: str = "utf-8") -> list[PhraseTree]:
    data = text.encode(encoding) if isinstance(text, str) else text
    return list(read_trees(io.BytesIO(data), encoding))


def one(text: str) -> PhraseTree:
    (tree,) = read(text)
    return tree
