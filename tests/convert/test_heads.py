"""Head rules: every step of both tables on trees made by hand; tables as files; empty elements."""

from pathlib import Path

import pytest
from convert.made_brackets import FIXED, one, trees
from hypothesis import given

from headwise.convert.brackets import PhraseTree
from headwise.convert.heads import (
    HeadRules,
    category,
    functions,
    load_rules,
    read_rules,
    remove_empty,
)
from headwise.errors import ConfigError, DataError

FIXTURES = Path(__file__).parent.parent / "fixtures"
MARK = "@"


def hand_made(language: str) -> list[str]:
    lines = (FIXTURES / f"heads-{language}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith("(")]


def read_case(line: str) -> tuple[str, list[str], int]:
    """Give the phrase, the categories of its children, and the place of the one with a star."""
    tree = one(line.replace("*(", f"({MARK}"))
    children = [tree.nodes[place].label for place in tree.children()[0]]
    (head,) = [place for place, label in enumerate(children) if label.startswith(MARK)]
    phrase = category(tree.nodes[0].label)
    return phrase, [category(label.removeprefix(MARK)) for label in children], head


CASES = [(language, line) for language in ("english", "chinese") for line in hand_made(language)]


@pytest.mark.parametrize(("language", "line"), CASES)
def test_the_head_is_as_the_published_rules_say(language: str, line: str) -> None:
    phrase, children, head = read_case(line)
    assert load_rules(language).choose(phrase, children) == head


@pytest.mark.parametrize("language", ["english", "chinese"])
def test_every_category_of_every_step_of_every_rule_has_a_tree(language: str) -> None:
    rules = load_rules(language)
    seen = set()
    for line in hand_made(language):
        phrase, children, head = read_case(line)
        steps = rules.steps.get(phrase, rules.default)
        deciding = next(
            number
            for number, step in enumerate(steps)
            if not step.categories or step.categories & set(children)
        )
        wanted = steps[deciding].categories
        seen.add((phrase, deciding, children[head] if wanted else ""))
    for phrase, steps in rules.steps.items():
        for number, step in enumerate(steps):
            for name in step.categories or {""}:
                assert (phrase, number, name) in seen, f"{phrase}, step {number}, {name}"


def test_the_tables_have_the_published_number_of_rules() -> None:
    assert len(load_rules("english").steps) == 26
    assert len(load_rules("chinese").steps) == 22


def table(tmp_path: Path, text: str) -> HeadRules:
    path = tmp_path / "rules.txt"
    path.write_bytes(text.encode(errors="surrogateescape"))
    return read_rules(path)


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    rules = table(tmp_path, "# mine\r\nNP : r NN NNS; l NP ;\r\nLST l LS;l :;l\n\ndefault l\n")
    assert rules.choose("NP", ["NN", "NNS", "DT"]) == 1
    assert rules.choose("NP", ["DT", "NP", "NP"]) == 1
    assert rules.choose("NP", ["JJ", "DT"]) == 0  # no step of its own is left: the default
    assert rules.choose("LST", ["CD", ":"]) == 1
    assert rules.choose("VP", [",", "NN", "VB"]) == 1
    assert table(tmp_path, "NP r NN").choose("VP", ["NN", "VB"]) == 1
    assert load_rules(str(tmp_path / "rules.txt")).choose("NP", ["NN", "VB"]) == 0


def test_only_punctuation_still_has_a_head() -> None:
    rules = load_rules("english")
    assert rules.choose("PRN", [":", ","]) == 1
    assert rules.choose("UCP", [":", ","]) == 0


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("NP r NN\nNP r NP\n", "rules.txt:2: 'NP' is listed twice"),
        ("NP r NN; up JJ\n", "rules.txt:1: a step of 'NP' begins with 'up', not with l or r"),
        ("\nNP\n", "rules.txt:2: a step of 'NP' begins with '', not with l or r"),
        ("NP r NN\ndefault r NN\n", "rules.txt: default does not end with l or r alone"),
        ("# nothing\n", "rules.txt: the file has no head rules"),
        ("NP r NN\n" + " " * 2**20, "rules.txt: head rules of more than 1 MiB"),
        ("NP r \udcff\n", "rules.txt: head rules that are not UTF-8"),
    ],
)
def test_a_malformed_table_has_its_line(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(DataError) as caught:
        table(tmp_path, text)
    message, hint = str(caught.value).split("\n")
    assert message.endswith(what)
    assert hint.startswith("hint: ")


def test_the_name_of_a_table_must_be_known() -> None:
    with pytest.raises(ConfigError, match="no head rules 'klingon'\nhint: one of chinese, english"):
        load_rules("klingon")


@pytest.mark.parametrize(
    ("label", "its_category", "its_functions"),
    [
        ("NP", "NP", ()),
        ("NP-SBJ-1", "NP", ("SBJ",)),
        ("NP-LOC-PRD=2", "NP", ("LOC", "PRD")),
        ("NP=3", "NP", ()),
        ("VBG|NN", "VBG", ()),
        ("-LRB-", "-LRB-", ()),
        ("-NONE-", "-NONE-", ()),
        ("NR-SHORT", "NR", ("SHORT",)),
        ("PRP$", "PRP$", ()),
        ("=", "=", ()),
        ("|", "|", ()),
        ("", "", ()),
    ],
)
def test_labels_in_parts(label: str, its_category: str, its_functions: tuple[str, ...]) -> None:
    assert category(label) == its_category
    assert functions(label) == its_functions


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VB go)))", "(S (VP (TO to) (VB go)))\n"),
        ("(NP (NP (NN a)) (SBAR (WHNP (-NONE- 0)) (S (NP (-NONE- *T*)))))", "(NP (NP (NN a)))\n"),
        ("((S (NN a) (-NONE- *)))", "( (S (NN a)))\n"),
        ("(VP (VV 来) (NP-OBJ (-NONE- *pro*)) (PU 。))", "(VP (VV 来) (PU 。))\n"),
        ("(S (-LRB- -LRB-) (NN -NONE-))", "(S (-LRB- -LRB-) (NN -NONE-))\n"),
    ],
)
def test_empty_elements_go_with_their_phrases(before: str, after: str) -> None:
    tree = remove_empty(one(before))
    assert tree is not None
    assert tree.text == after


def test_a_tree_of_traces_is_nothing() -> None:
    assert remove_empty(one("(-NONE- *)")) is None


@FIXED
@given(trees())
def test_words_stay_and_phrases_hold_words(tree: PhraseTree) -> None:
    kept = [node.word for node in tree.nodes if node.word and node.label != "-NONE-"]
    rest = remove_empty(tree)
    if rest is None:
        assert kept == []
        return
    assert [node.word for node in rest.nodes if node.word] == kept
    assert one(rest.text) == rest
    assert remove_empty(rest) == rest
