"""The parser learns from finished sentences, and is judged by some that it did not see."""

import shutil
import sys
from pathlib import Path

import pytest
from made_models import replace_file

import headwise
from headwise import ConfigError, Sentence
from headwise.annotate.file.saved import AnnotatedFile
from headwise.annotate.marks import Marks, with_marks
from headwise.annotate.teach import Teacher, make_lesson
from headwise.annotate.workbench import Workbench
from headwise.model.bundle import slim
from headwise.model.find import find_model
from headwise.runtime.parser import Parser
from tests.annotate.made_blocks import make_block
from tests.serve.made_servers import wait_until

STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("adam   1  loss 2.0000  dev UAS 80.00  1.5 s  best  at most 9 s left", file=sys.stderr)
sys.stderr.flush()
time.sleep(600)
"""
"""A training that reports its first epoch, and does not end when it is told to."""


def done(sentence: Sentence) -> str:
    n = len(sentence)
    fixed = (frozenset({"Head"}),) * n
    return with_marks(sentence, Marks(fixed, ((),) * n, is_done=True)).conllu


@pytest.fixture
def blocks(sentences: list[Sentence]) -> list[str]:
    """Finish 60 sentences; 40 are left."""
    return [done(one) if i < 60 else one.conllu for i, one in enumerate(sentences)]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The model of the package with something in place of weights."""
    folder = tmp_path / "model"
    shutil.copytree(find_model("en"), folder)
    replace_file(folder, "weights.safetensors", b"none")
    return folder


def test_sentences_are_divided(blocks: list[str], sentences: list[Sentence]) -> None:
    lesson = make_lesson(blocks)
    assert len(lesson.learned) + len(lesson.held_out) == 60
    assert 5 <= len(lesson.held_out) <= 20
    assert len(lesson.replayed) == 40
    taught = [sentence.conllu for sentence in (*lesson.learned, *lesson.held_out)]
    assert sorted(taught) == sorted(sentence.conllu for sentence in sentences[:60])
    assert all(set(sentence.heads) == {None} for sentence in lesson.replayed)


def test_the_same_sentences_stay_held_out(blocks: list[str]) -> None:
    few, many = make_lesson(blocks[:30]), make_lesson(blocks)
    assert {one.text for one in few.held_out} <= {one.text for one in many.held_out}


def test_one_sentence_at_least_is_held_out() -> None:
    # None of these is held out by its words; a sentence without whole heads never is.
    blocks = [make_block(f"word{i}", comments=("# status = done",)) for i in range(12)]
    lesson = make_lesson([*blocks, "1\tbroken\n\n", "# comment\n\n"])
    assert (len(lesson.learned), len(lesson.held_out)) == (11, 1)


def test_too_few_sentences_are_refused(blocks: list[str]) -> None:
    with pytest.raises(ConfigError, match="only 9 sentences are finished"):
        make_lesson(blocks[:9])


def test_a_transformer_without_weights_cannot_learn(
    tmp_path: Path, blocks: list[str], parser: Parser, encoder_run: Path
) -> None:
    teacher = Teacher(tmp_path / "file.conllu")
    slim(encoder_run / "model", tmp_path / "slim", "int8")
    with pytest.raises(ConfigError, match="has a transformer and no weights"):
        teacher.start(blocks, parser, str(tmp_path / "slim"), 1)
    assert teacher.answer.state == "idle"
    with pytest.raises(ConfigError, match="no new model yet"):
        teacher.load_taught()
    teacher.close()


def test_a_training_that_fails_says_why(
    tmp_path: Path, blocks: list[str], parser: Parser, model: Path
) -> None:
    teacher = Teacher(tmp_path / "file.conllu", (sys.executable, "-c", "exit('no luck')"))
    assert teacher.start(blocks, parser, str(model), 1).state == "running"
    wait_until(lambda: teacher.answer.state == "failed", 30)
    assert teacher.answer.message == "no luck"
    assert teacher.answer.before is not None
    assert teacher.answer.before.uas > 70
    teacher.close()


def test_who_may_not_read_the_file_may_not_read_what_is_learned(
    tmp_path: Path, blocks: list[str], parser: Parser, model: Path
) -> None:
    path = tmp_path / "f"
    path.touch(0o600)
    path.with_name("f.headwise-taught-1").symlink_to(tmp_path / "elsewhere")
    teacher = Teacher(path, (sys.executable, "-c", "exit('no luck')"))
    teacher.start(blocks[:12], parser, str(model), 1)
    wait_until(lambda: teacher.answer.state == "failed", 30)
    assert teacher.answer.message == "no luck"
    folder = path.with_name("f.headwise-taught-2")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not (tmp_path / "elsewhere").exists()
    teacher.close()


def test_a_training_imports_nothing_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("headwise", "click", "msgspec"):
        (tmp_path / f"{name}.py").write_text("exit('foreign code')")
    monkeypatch.chdir(tmp_path)
    Teacher(tmp_path / "file.conllu")._train(["--list"], 1)


@pytest.mark.slow
def test_there_is_one_training_at_a_time_and_it_ends_with_the_workbench(
    tmp_path: Path, blocks: list[str], parser: Parser, model: Path
) -> None:
    teacher = Teacher(tmp_path / "f", (sys.executable, "-c", STUBBORN))
    teacher.start(blocks, parser, str(model), 4)
    with pytest.raises(ConfigError, match="already running"):
        teacher.start(blocks, parser, str(model), 4)
    wait_until(lambda: teacher.answer.progress > 0, 30)
    assert teacher.answer.progress == pytest.approx(0.95 / 4, abs=1e-3)
    assert teacher.answer.seconds_left is not None
    teacher.close()  # the process does not want to end, but must
    assert teacher.answer.state == "failed"


@pytest.mark.slow
def test_a_taught_parser_takes_over(tmp_path: Path, blocks: list[str], full_run: Path) -> None:
    path = tmp_path / "file.conllu"
    path.write_text("".join(blocks))
    source = str(full_run / "model")
    bench = Workbench(AnnotatedFile(path), headwise.load(source), "mine", keep=False, source=source)
    try:
        assert bench.teach(3).state == "running"
        wait_until(lambda: bench.teacher.answer.state != "running", 500)
        answer = bench.teacher.answer
        assert answer.state == "ready", answer.message
        assert answer.before is not None
        assert answer.after is not None
        assert answer.n_held_out > 0
        before = bench.redecoder
        bench.switch()
        assert bench.redecoder is not before
        assert bench.describe().model == "file.conllu.headwise-taught-1"
        assert bench.teacher.answer.state == "idle"
        wait_until(lambda: bench.overview.answer(0, 0, 100, None).pending == 0, 60)
        # What was taught can be taught again.
        assert bench.teach(1).state == "running"
    finally:
        bench.close()
