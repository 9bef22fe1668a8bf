r"""Make a treebank of today's Chinese from an old, larger release and the dev set of a new one.

    python -m bench.languages.chinese ud/UD_Chinese-GSD-r1.4 ud/MIX_Chinese/dev.conllu.xz zh

UD_Chinese-GSD of UD 1.4 has traditional characters and the annotation of UD v1. Its train set is
turned into simplified characters and the annotation of UD_Chinese-GSDSimp. Its dev set has the same
sentences and words as that of GSDSimp: all rules were found by comparing the two, and the command
measures how well a converted dev set agrees with GSDSimp.

Written are `train.conllu.xz`, which is the converted train set and 60% of GSDSimp dev, drawn at
random, and `dev.conllu.xz`, which is the rest of it. No sentence of train has the text, without
spaces, of one of dev or of a test set: that of the release, `test.conllu.xz` beside the new dev set
if there is one, and those given with `--not-in`. The same files and the same OpenCC give the same
treebank.

OpenCC (`pip install OpenCC`, Apache-2.0) is needed here only. The result has the licences of both
sources. That of the release, CC BY-NC-SA 4.0, forbids commercial use.
"""

import argparse
import importlib
import io
import lzma
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import headwise
from headwise import Sentence
from headwise.files import make_folder, whole_file

TRAIN_SHARE = 0.6
"""How much of the new dev set goes into train."""
Convert = Callable[[str], str]
"""Text to text in simplified characters."""

_OPEN = "（《“‘〈〔『【「([{"  # noqa: RUF001
_CLOSE = "）》”’〉〕』】」)]}"  # noqa: RUF001
_PUNCTUATION = str.maketrans(",.();:?!「」", "，。（）；：？！“”")  # noqa: RUF001
_CHARACTERS = str.maketrans("於牠", "于它")
_WORDS = {"土着": "土著", "卓着": "卓著", "帐户": "账户", "义大利": "意大利"}
"""What OpenCC writes otherwise than GSDSimp has it."""
_PLURALS = {"他们", "她们", "它们", "我们", "你们", "您们", "咱们", "人们"}
_NEGATIVE = ("没", "未", "不会", "不是", "不能", "不可", "不想", "不得", "不要", "不应", "不再")
_ORDINAL = ("第", "首")

_RELATIONS = {
    "dobj": "obj",
    "auxpass": "aux:pass",
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass",
    "neg": "advmod",
    "foreign": "flat:foreign",
    "case:aspect": "aux",
    "case:dec": "case",
    "case:pref": "case",
    "case:suff": "compound",
    "aux:caus": "case",
}
"""New relations by the old one, where the tables below have nothing."""
_BY_XPOS = {("acl", "IN"): "case", ("det", "IN"): "case", ("acl:relcl", "DEC"): "mark:rel"}
_BY_UPOS = {
    ("advmod", "NOUN"): "obl",
    ("advmod", "NUM"): "obl",
    ("advmod", "VERB"): "advcl",
    ("det", "ADJ"): "amod",
    ("det", "NUM"): "nummod",
    ("det", "NOUN"): "nmod",
    ("det", "PROPN"): "nmod",
    ("det", "PART"): "nmod",
}
_BY_HEAD = {
    ("nmod", "VERB"): "obl",
    ("acl", "VERB"): "advcl",
    ("acl", "ADJ"): "advcl",
    ("acl", "AUX"): "advcl",
    ("acl:relcl", "VERB"): "advcl",
    ("acl:relcl", "ADJ"): "advcl",
    ("acl:relcl", "AUX"): "advcl",
}
"""New relations by the old one and the UPOS of the head."""
_PARTICLES = {"的", "了", "的話"}
"""Their relation stays `discourse`; that of other particles gets `:sp`."""

_TAGS = {
    ("CONJ", "CC", ""): "CCONJ",
    ("PART", "AS", ""): "AUX",
    ("X", "UH", ""): "PART",
    ("ADV", "RB", "mark"): "SCONJ",
    ("PART", "DEC", "mark:rel"): "SCONJ",
    ("PART", "DEV", "mark:adv"): "SCONJ",
    ("VERB", "VC", "cop"): "AUX",
    ("VERB", "BB", "aux:pass"): "AUX",
    ("VERB", "BB", "case"): "ADP",
    ("ADJ", "JJ", "case"): "ADP",
    ("DET", "DT", "case"): "ADP",
    ("VERB", "VV", "det"): "DET",
    ("SYM", "/", "punct"): "PUNCT",
}
"""UPOS by old UPOS, XPOS and new relation, or without a relation for all of them."""


@dataclass(slots=True)
class Node:
    """A word in a tree; `head` is 1..N, 0 for the root."""

    form: str
    upos: str
    xpos: str
    feats: str
    head: int
    rel: str


class Tree:
    """The words 1..N of a sentence, to be changed in place."""

    def __init__(self, sentence: Sentence) -> None:
        """Take the words of an old sentence."""
        self.nodes = [Node("", "", "", "", 0, "")]
        for word in sentence.words:
            head = int(word.head)
            self.nodes.append(Node(word.form, word.upos, word.xpos, word.feats, head, word.deprel))

    def __getitem__(self, number: int) -> Node:
        return self.nodes[number]

    @property
    def numbers(self) -> range:
        """1..N."""
        return range(1, len(self.nodes))

    def children(self, number: int) -> list[int]:
        """The dependents of a word, from left to right."""
        return [n for n in self.numbers if self[n].head == number]

    def is_below(self, number: int, ancestor: int) -> bool:
        """Whether a word is another one or below it."""
        while number and number != ancestor:
            number = self[number].head
        return number == ancestor

    def replace(self, old: int, new: int) -> None:
        """Let `new` take the place of `old` in the tree; `old` is left to the caller."""
        self[new].head, self[new].rel = self[old].head, self[old].rel
        self[old].head = new

    def start(self, number: int) -> int:
        """The leftmost word below a word or itself."""
        return next(n for n in self.numbers if self.is_below(n, number))


def flatten_names(tree: Tree) -> None:
    """Let the first part of a name be its head, not the last one."""
    for last in tree.numbers:
        if tree[last].upos != "PROPN":
            continue
        parts = [
            n
            for n in tree.children(last)
            if n < last and tree[n].upos == "PROPN" and tree[n].rel == "nmod"
        ]
        between = range(parts[0] + 1, last) if parts else ()
        if not parts or any(n not in parts and tree[n].xpos not in {"/", "HYPH"} for n in between):
            continue
        first = parts[0]
        if any(tree[n].upos != "PUNCT" for part in parts for n in tree.children(part)):
            continue
        tree.replace(last, first)
        for n in (*parts[1:], last):
            tree[n].head, tree[n].rel = first, "flat:name"
        for n in tree.children(last):
            tree[n].head = first


def promote_titles(tree: Tree) -> None:
    """Let a title be the head of the name after it, which describes it."""
    for name in tree.numbers:
        titles = [n for n in tree.children(name) if n < name and tree[n].rel == "appos"]
        if not titles:
            continue
        title = titles[-1]
        tree.replace(name, title)
        tree[name].rel = "appos"
        for n in tree.children(name):
            stays = title < n < name or tree[n].rel in {"flat:name", "appos", "conj", "cc"}
            if n in titles or not stays:
                tree[n].head = title


def attach_classifiers(tree: Tree) -> None:
    """Attach numbers to the noun that is counted, and the classifier between them to the number."""
    for unit in tree.numbers:
        node = tree[unit]
        noun = tree[node.head]
        if not (node.xpos == "NNB" and node.rel == "nmod" and noun.upos in {"NOUN", "PROPN"}):
            continue
        match [n for n in tree.children(unit) if tree[n].rel != "punct"]:
            case [number] if unit < node.head and tree[number].rel == "nummod":
                tree[number].head, node.head, node.rel = node.head, number, "clf"
            case [determiner] if unit < node.head and tree[determiner].rel == "det":
                node.rel = "clf"


def promote_verbs(tree: Tree) -> None:
    """Make a verb the head of the adjective that it was the copula of."""
    for verb in tree.numbers:
        if tree[verb].rel != "cop" or tree[verb].xpos == "VC":
            continue
        state = tree[verb].head
        if tree[verb].upos == "ADJ":
            tree[verb].rel = "amod"
        elif tree[state].upos == "ADJ" and verb < state:
            tree.replace(state, verb)
            tree[state].rel = "xcomp"
            for n in tree.children(state):
                if not verb < n < state or tree[n].xpos == "DEV":
                    tree[n].head = verb


def attach_patients(tree: Tree) -> None:
    """Attach 把 and 将 to the object after them, which stands before its verb."""
    for number in tree.numbers:
        verb = tree[number].head
        if tree[number].rel == "aux:caus":
            objects = (n for n in tree.children(verb) if tree[n].rel == "dobj")
            tree[number].head = next((n for n in objects if number < n < verb), verb)
    for number in tree.numbers:
        if tree[number].rel == "dobj" and number < tree[number].head:
            tree[number].rel = "obl:patient"


def attach_conjunctions(tree: Tree) -> None:
    """Attach `cc` to the conjunct after it."""
    for number in tree.numbers:
        if tree[number].rel == "cc" and number > (head := tree[number].head):
            conjuncts = (n for n in tree.children(head) if tree[n].rel == "conj")
            tree[number].head = next((n for n in conjuncts if n > number), head)


def lift_dependents(tree: Tree) -> None:
    """Attach the dependents of prepositions and of verbs that mark a result to what these mark."""
    for number in tree.numbers:
        node = tree[number]
        is_preposition = node.rel == "det" and node.xpos == "IN"
        is_result = node.rel == "mark" and node.upos == "VERB" and node.head < number
        if is_preposition or is_result:
            for n in tree.children(number):
                tree[n].head = node.head
        is_manner = node.xpos == "DEV" and "Advb" in node.feats and 1 < number < node.head
        if is_manner and tree[number - 1].head == node.head:
            node.head, node.rel = number - 1, "mark:adv"


def order_clauses(tree: Tree) -> None:
    """Let the first clause be the root, those after it `parataxis` of it."""
    root = tree.children(0)[0]
    clauses = [n for n in tree.children(root) if tree[n].rel == "dep" and n < root]
    if clauses:
        for n in tree.children(root):
            if n not in clauses and n < clauses[-1] and tree[n].upos != "PUNCT":
                tree[n].head = next(clause for clause in clauses if clause > n)
        tree.replace(root, clauses[0])
        for n in (*clauses[1:], root):
            tree[n].head, tree[n].rel = clauses[0], "parataxis"
    for n in tree.numbers:
        if tree[n].rel == "dep":
            tree[n].rel = "advcl" if n < tree[n].head else "parataxis"


def relation_of(node: Node, head: Node, is_before: bool) -> str:
    """Find the new relation of a word, whose head has got its place already."""
    old = node.rel
    if old == "mark" and node.xpos == "DEV":
        return "mark:adv" if "Advb" in node.feats and is_before else "compound:ext"
    if old == "discourse" and node.form not in _PARTICLES:
        return "discourse:sp"
    return (
        _BY_XPOS.get((old, node.xpos))
        or _BY_UPOS.get((old, node.upos))
        or _BY_HEAD.get((old, head.upos))
        or _RELATIONS.get(old, old)
    )


def tag_of(node: Node) -> str:
    """Find the new UPOS of a word with a new relation."""
    always = _TAGS.get((node.upos, node.xpos, ""), node.upos)
    return _TAGS.get((node.upos, node.xpos, node.rel), always)


def features_of(node: Node, old: str, form: str) -> str:
    """Find the new FEATS of a word with a new UPOS; `form` is simplified."""
    if node.upos == "NUM":
        return "NumType=Ord" if form.startswith(_ORDINAL) else "NumType=Card"
    if old == "neg" or (node.upos in {"VERB", "AUX"} and form.startswith(_NEGATIVE)):
        return "Polarity=Neg"
    if node.xpos in {"DEC", "DEV"} and node.feats != "Case=Gen":
        return "_"
    if node.xpos == "BB" and node.upos == "ADP":
        return "_"
    return "PartType=Int" if node.feats == "Mood=Inter" else node.feats


def lemma_of(node: Node, form: str) -> str:
    """Find the lemma of a converted word: no plural, no negation, 是 alone."""
    if form in _PLURALS:
        return form.removesuffix("们")
    if node.xpos == "VC" and form.endswith("是"):
        return "是"
    if node.feats == "Polarity=Neg" and node.upos != "ADV" and len(form) > 1:
        return form[1:]
    return form


def attach_punctuation(tree: Tree) -> None:
    """Attach punctuation to the clause it ends, or to the coordinated part it introduces."""
    words = [n for n in tree.numbers if tree[n].rel != "punct"]
    for number in words:
        while tree[tree[number].head].rel == "punct":
            tree[number].head = tree[tree[number].head].head
    root = tree.children(0)[0]
    pairs = find_pairs(tree)
    for number in tree.numbers:
        if tree[number].rel != "punct":
            continue
        inside = pairs.get(number, range(0))
        if heads := [n for n in words if n in inside and tree[n].head not in inside]:
            tree[number].head = heads[0] if number < inside.start else heads[-1]
            continue
        spans = [span for span in pairs.values() if number in span]
        span = min(spans, key=len, default=tree.numbers)
        tree[number].head = neighbour(tree, number, [n for n in words if n in span]) or root


def neighbour(tree: Tree, number: int, words: Collection[int]) -> int:
    """Find the head of a punctuation mark among words that include those beside it, or 0."""
    left = max((n for n in words if n < number), default=0)
    right = min((n for n in words if n > number), default=0)
    while tree[left].head < number and tree[left].head in words:
        left = tree[left].head
    while tree[right].head > number and tree[right].head in words:
        right = tree[right].head
    return right if right and (not left or tree.is_below(right, left)) else left


def find_pairs(tree: Tree) -> dict[int, range]:
    """Find what is between brackets or quotation marks, by the number of each of the two."""
    pairs: dict[int, range] = {}
    opened: list[int] = []
    for number in tree.numbers:
        form = tree[number].form.translate(_PUNCTUATION)
        if form in _OPEN:
            opened.append(number)
        elif form in _CLOSE and opened:
            start = opened.pop()
            pairs[start] = pairs[number] = range(start + 1, number)
    return pairs


def convert_tree(tree: Tree, forms: Sequence[str]) -> None:
    """Turn the annotation of UD v1 into that of GSDSimp, except for the forms."""
    flatten_names(tree)
    promote_titles(tree)
    attach_classifiers(tree)
    promote_verbs(tree)
    attach_patients(tree)
    attach_conjunctions(tree)
    lift_dependents(tree)
    order_clauses(tree)
    relations = [relation_of(tree[n], tree[tree[n].head], n < tree[n].head) for n in tree.numbers]
    for number, relation, form in zip(tree.numbers, relations, forms, strict=True):
        node = tree[number]
        old, node.rel = node.rel, relation
        node.upos = tag_of(node)
        node.feats = features_of(node, old, form)
    attach_punctuation(tree)


def simplify(sentence: Sentence, convert: Convert) -> list[str]:
    """The words of a sentence in simplified characters, with full-width punctuation."""
    old = [word.form for word in sentence.words]
    text = convert("".join(old))
    if len(text) == sum(map(len, old)):
        starts = np.cumsum([0, *map(len, old)]).tolist()
        new = [text[start : start + len(form)] for start, form in zip(starts, old, strict=False)]
    else:
        new = [convert(form) for form in old]
    forms = []
    for word, form in zip(sentence.words, new, strict=True):
        simple = form.translate(_CHARACTERS)
        simple = _WORDS.get(simple, simple)
        forms.append(word.form.translate(_PUNCTUATION) if word.upos == "PUNCT" else simple)
    return forms


def is_latin(form: str) -> bool:
    """Whether a word has letters or digits of ASCII at both ends."""
    return form.isascii() and form[0].isalnum() and form[-1].isalnum()


def to_lines(tree: Tree, forms: Sequence[str], name: str) -> str:
    """Write a converted sentence as CoNLL-U."""
    follows = [*forms[1:], ""]
    spaced = [
        bool(after) and is_latin(form) and is_latin(after)
        for form, after in zip(forms, follows, strict=True)
    ]
    text = "".join(form + " " * space for form, space in zip(forms, spaced, strict=True))
    lines = [f"# sent_id = {name}", f"# text = {text}"]
    for number, form, space in zip(tree.numbers, forms, spaced, strict=True):
        node = tree[number]
        lemma = lemma_of(node, form)
        misc = "_" if space else "SpaceAfter=No"
        columns = (
            str(number),
            form,
            lemma,
            node.upos,
            node.xpos,
            node.feats,
            str(node.head),
            node.rel,
            "_",
            misc,
        )
        lines.append("\t".join(columns))
    return "\n".join(lines) + "\n\n"


def convert_sentences(
    sentences: Iterable[Sentence], convert: Convert, prefix: str
) -> Iterable[Sentence]:
    """Turn old sentences into new ones, named PREFIX1, PREFIX2, ..."""
    text = []
    for number, sentence in enumerate(sentences, 1):
        forms = simplify(sentence, convert)
        tree = Tree(sentence)
        convert_tree(tree, forms)
        text.append(to_lines(tree, forms, f"{prefix}{number}"))
    return headwise.read_sentences(io.BytesIO("".join(text).encode()))


def agreement(sentences: Iterable[Sentence], others: Iterable[Sentence]) -> dict[str, float]:
    """Compare the columns of the same words, in percent."""
    pairs = [
        (one, other)
        for sentence, like in zip(sentences, others, strict=True)
        for one, other in zip(sentence.words, like.words, strict=True)
    ]
    counts = {
        "FORM": sum(a.form == b.form for a, b in pairs),
        "UPOS": sum(a.upos == b.upos for a, b in pairs),
        "UFeats": sum(a.feats == b.feats for a, b in pairs),
        "UAS": sum(a.head == b.head for a, b in pairs),
        "LAS": sum((a.head, a.deprel) == (b.head, b.deprel) for a, b in pairs),
    }
    return {name: round(100 * count / len(pairs), 2) for name, count in counts.items()}


def plain_text(sentence: Sentence, convert: Convert) -> str:
    """The simplified text of a sentence without spaces, to compare."""
    return "".join(simplify(sentence, convert)).replace(" ", "")


def write(path: Path, sentences: Sequence[Sentence]) -> None:
    """Write sentences and say how many."""
    with whole_file(path) as stream, lzma.open(stream, "wb", preset=9) as packed:
        for sentence in sentences:
            packed.write(sentence.data)
    print(f"{path}: {len(sentences):,} sentences, {sum(map(len, sentences)):,} words")


def make(given: argparse.Namespace, convert: Convert) -> None:
    """Convert, divide, check and write."""

    def read(path: Path) -> list[Sentence]:
        return list(headwise.read_sentences(path))

    old_dev, new_dev = read(given.old / "dev.conllu.xz"), read(given.new_dev)
    print("agreement of dev before:", agreement(old_dev, new_dev))
    converted_dev = convert_sentences(old_dev, convert, "old-dev-")
    print("agreement of dev after: ", agreement(converted_dev, new_dev))
    order = np.random.default_rng(0).permutation(len(new_dev)).tolist()
    n_train = round(TRAIN_SHARE * len(new_dev))
    in_train, in_dev = (
        [new_dev[n] for n in sorted(chosen)] for chosen in (order[:n_train], order[n_train:])
    )
    tests = [given.old / "test.conllu.xz", *given.not_in]
    if (beside := given.new_dev.with_name("test.conllu.xz")).exists():
        tests.append(beside)
    held_out = {plain_text(s, convert) for path in tests for s in read(path)}
    held_out |= {plain_text(s, convert) for s in in_dev}
    old_train = convert_sentences(read(given.old / "train.conllu.xz"), convert, "train-s")
    train = [s for s in (*old_train, *in_train) if plain_text(s, convert) not in held_out]
    make_folder(given.out)
    write(given.out / "train.conllu.xz", train)
    write(given.out / "dev.conllu.xz", in_dev)


def load_converter() -> Convert:
    """Load OpenCC: Taiwan's characters to simplified ones, words as they are."""
    try:
        opencc = importlib.import_module("opencc")
    except ImportError:
        sys.exit("OpenCC is missing: pip install OpenCC")
    convert: Convert = opencc.OpenCC("tw2s").convert
    return convert


def make_parser() -> argparse.ArgumentParser:
    """List the arguments."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.languages.chinese",
        description="Make a treebank of simplified Chinese from UD_Chinese-GSD of UD 1.4 and the "
        "dev set of UD_Chinese-GSDSimp. Needs OpenCC.",
        epilog="example: python -m bench.languages.chinese ud/UD_Chinese-GSD-r1.4 "
        "ud/MIX_Chinese/dev.conllu.xz zh",
    )
    parser.add_argument(
        "old",
        metavar="GSD_FOLDER",
        type=Path,
        help="folder with train, dev and test.conllu.xz of UD_Chinese-GSD of UD 1.4",
    )
    parser.add_argument(
        "new_dev",
        metavar="SIMP_DEV",
        type=Path,
        help="dev set of UD_Chinese-GSDSimp; a test.conllu.xz beside it is kept out of train",
    )
    parser.add_argument(
        "out", metavar="OUT_FOLDER", type=Path, help="for train.conllu.xz and dev.conllu.xz"
    )
    parser.add_argument(
        "--not-in",
        metavar="FILE",
        type=Path,
        nargs="+",
        default=[],
        help="more test sets to keep out of train",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the treebank."""
    make(make_parser().parse_args(arguments), load_converter())


if __name__ == "__main__":
    main()
