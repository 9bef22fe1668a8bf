"""`headwise suggest`: questions in, answers out, and round again."""

from pathlib import Path

import pytest
from invoked import headwise, refusal

from headwise import read_sentences
from headwise.treebank.sentence import BLANK


@pytest.fixture
def blank(tiny_treebank: Path, tmp_path: Path) -> Path:
    path = tmp_path / "blank.conllu"
    path.write_text(
        "".join(
            one.with_words([w._replace(head="_", deprel="_") for w in one.words]).conllu
            for one in list(read_sentences(tiny_treebank))[:10]
        ),
        encoding="utf-8",
    )
    return path


def test_answers_are_kept_and_more_is_asked(
    blank: Path, tiny_treebank: Path, tiny_run: Path, tmp_path: Path
) -> None:
    first = tmp_path / "first.conllu"
    done = headwise("suggest", blank, "--model", tiny_run, "--budget", "10%", "-o", first)
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    n_words = sum(map(len, read_sentences(blank)))
    n_asked = round(0.1 * n_words)
    message = done.stderr.decode()
    assert message.startswith(f"{n_asked} questions in ")
    assert f"; {n_words} of {n_words} words had no HEAD; the first guess has probability" in message
    gold = list(read_sentences(tiny_treebank))
    answered = [
        one.with_words(
            [
                right if "Ask=Yes" in word.misc else word
                for word, right in zip(one.words, whole.words, strict=True)
            ]
        )
        for one, whole in zip(read_sentences(first), gold, strict=False)
    ]
    assert sum(word.head != BLANK for one in answered for word in one.words) == n_asked
    (tmp_path / "answered.conllu").write_text(
        "".join(one.conllu for one in answered), encoding="utf-8"
    )
    again = headwise("suggest", tmp_path / "answered.conllu", "-m", tiny_run, "--budget", 3)
    assert again.stdout.count(b"Ask=Yes") == 3
    assert f"{n_words - n_asked} of {n_words} words had no HEAD" in again.stderr.decode()


def test_nothing_to_ask_leaves_the_file_as_it_is(tiny_treebank: Path, tiny_run: Path) -> None:
    done = headwise("suggest", tiny_treebank, "--model", tiny_run)
    assert done.stdout == tiny_treebank.read_bytes()
    assert done.stderr.startswith(b"nothing to ask: ")


def test_an_empty_file_has_nothing_to_ask(tmp_path: Path, tiny_run: Path) -> None:
    empty = tmp_path / "empty.conllu"
    empty.touch()
    done = headwise("suggest", empty, "--model", tiny_run)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.decode().rstrip() == "nothing to ask: there are no words"


def test_text_is_cut_into_words_first(tmp_path: Path, full_run: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("Kids love candy. They run home.\n", encoding="utf-8")
    done = headwise("suggest", path, "--model", full_run, "--budget", 2, "--quiet")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"Ask=Yes|Guess=") == 2


def test_bad_input_is_a_clear_error(blank: Path, tiny_run: Path, tmp_path: Path) -> None:
    assert "the budget is '0'" in refusal("suggest", blank, "--budget", 0)
    assert "No such file" in refusal("suggest", tmp_path / "none.conllu", "--model", tiny_run)
    cycle = tmp_path / "cycle.conllu"
    cycle.write_text("1\ta\t_\t_\tX\t_\t2\t_\t_\t_\n2\tb\t_\t_\tX\t_\t1\t_\t_\t_\n\n")
    assert "cycle.conllu:1: " in refusal("suggest", cycle, "--model", tiny_run)
