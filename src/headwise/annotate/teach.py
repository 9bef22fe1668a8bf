"""Teach the parser what a person corrected: `headwise train --start` in a process of its own.

Four fifths of the finished sentences are learned from. The others are held out, always the same
ones, and tell how good the parser was before and is afterwards. The sentences that are not finished
yet are learned as the parser sees them now, so that it does not forget what it knew.
"""

import hashlib
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from headwise import load
from headwise.annotate.file.disk import mode_like
from headwise.annotate.file.document import join_blocks
from headwise.annotate.marks import clean_block, status_of
from headwise.errors import ConfigError, DataError, HeadwiseError
from headwise.evaluate.scores import score
from headwise.files import whole_file, writing
from headwise.model.bundle import load_bundle
from headwise.model.find import find_model
from headwise.runtime.parser import Parser
from headwise.treebank.conllu import read_block
from headwise.treebank.sentence import BLANK, Sentence

EPOCHS = 10
FEWEST_SENTENCES = 10
MAX_REPLAYED = 2_000
_HELD_OUT = 5
"""One in this many finished sentences is held out."""
_EPOCH = re.compile(r"adam +([0-9]+)  loss ")
_RECIPE = "adapt"
_SETTINGS = ("train.batch_size=16", "train.average=0.9", "train.calibrate=false")
"""There is little to learn, and a person is waiting."""
_MESSAGE_CHARACTERS = 500
_PATIENCE_SECONDS = 3.0
State = Literal["idle", "running", "ready", "failed"]


class HeldOutScores(msgspec.Struct, frozen=True):
    """On the sentences that are held out, in percent."""

    uas: float
    las: float


class TeachAnswer(msgspec.Struct, frozen=True):
    """How far the teaching is."""

    state: State = "idle"
    progress: float = 0.0
    seconds_left: float | None = None
    before: HeldOutScores | None = None
    after: HeldOutScores | None = None
    n_learned: int = 0
    n_held_out: int = 0
    message: str = ""


class Lesson(msgspec.Struct, frozen=True):
    """Sentences to learn from, to judge by, and to remember."""

    learned: list[Sentence]
    held_out: list[Sentence]
    replayed: list[Sentence]


class Teacher:
    """Runs one training at a time beside a file; safe to call from several threads."""

    def __init__(self, beside: Path, command: Sequence[str] = ()) -> None:
        """Put models beside a file; `command` is that of headwise."""
        self._beside = beside
        # With -P, Python does not import what lies in the current folder.
        self._command = tuple(command) or (sys.executable, "-P", "-m", "headwise")
        self._lock = threading.Lock()
        self._answer = TeachAnswer()
        self._process: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = False
        self._folder: Path | None = None

    @property
    def answer(self) -> TeachAnswer:
        """How far it is."""
        with self._lock:
            return self._answer

    def start(self, blocks: Sequence[str], parser: Parser, model: str, epochs: int) -> TeachAnswer:
        """Begin to train in the background; what cannot work is refused at once."""
        lesson = make_lesson(blocks)
        path = find_model(model)
        if not load_bundle(path).can_learn:
            what = f"the model {model} has a transformer and no weights, so it cannot learn"
            raise ConfigError(
                what, "start headwise annotate with another model: -m en, or -m runs/mine"
            )
        with self._lock:
            if self._answer.state == "running":
                raise ConfigError("a training is already running", "wait until it is done")
            self._folder = _free_folder(self._beside)
            self._answer = TeachAnswer(
                "running", n_learned=len(lesson.learned), n_held_out=len(lesson.held_out)
            )
            work = (lesson, parser, path, epochs, self._folder)
            self._thread = threading.Thread(target=self._teach, args=work, name="headwise-teach")
            self._thread.start()
            return self._answer

    def load_taught(self) -> tuple[Parser, Path]:
        """Load the new model, which is ready; return its folder, too."""
        with self._lock:
            if self._answer.state != "ready" or self._folder is None:
                raise ConfigError("there is no new model yet", "teach first")
            folder = self._folder / "model"
        return load(folder), folder

    def done(self) -> None:
        """Forget a training that was made use of."""
        with self._lock:
            self._answer = TeachAnswer()

    def close(self) -> None:
        """End a training that is under way."""
        with self._lock:
            self._is_closed = True
            process = self._process
            if process is not None:
                process.terminate()
        if self._thread is not None:
            self._thread.join(_PATIENCE_SECONDS)
            if process is not None:
                process.kill()  # it may be about to export what it has, which takes long
            self._thread.join()

    def _teach(
        self, lesson: Lesson, parser: Parser, model: Path, epochs: int, folder: Path
    ) -> None:
        try:
            self._update(before=measure(parser, lesson.held_out))
            decode = parser.settings.decode
            settings = [
                *_SETTINGS,
                f"train.adam_epochs={epochs}",
                f"train.patience={epochs}",
                f"decode.decoder={decode.decoder}",
                f"decode.single_root={str(decode.single_root).lower()}",
            ]
            changed = [part for setting in settings for part in ("--set", setting)]
            _make_folder(folder, mode_like(self._beside))
            arguments = [*write_lesson(lesson, folder), "--start", str(model), *changed]
            self._train([*arguments, "--out", str(folder), "--device", "cpu"], epochs)
            after = measure(load(folder / "model"), lesson.held_out)
            self._update(state="ready", progress=1.0, seconds_left=None, after=after)
        except (HeadwiseError, OSError) as error:
            message = str(error)[-_MESSAGE_CHARACTERS:]
            self._update(state="failed", seconds_left=None, message=message)

    def _train(self, arguments: Sequence[str], epochs: int) -> None:
        """Run `headwise train`, and follow what it reports."""
        with self._lock:
            if self._is_closed:
                raise ConfigError("the workbench has ended")
            # The command is ours, and no value in it comes from a page but a number.
            self._process = process = subprocess.Popen(  # noqa: S603
                [*self._command, "train", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,  # Ctrl-C is for the workbench, which ends it
            )
        lines: list[str] = []
        started = time.monotonic()
        with process:
            assert process.stderr is not None
            for line in process.stderr:
                lines = [*lines[-20:], line]
                if epoch := _EPOCH.match(line):
                    share = min(1.0, int(epoch[1]) / epochs)
                    left = round((time.monotonic() - started) / share * (1 - share), 1)
                    # After the last epoch the model is exported; how long that takes is unknown.
                    self._update(progress=round(0.95 * share, 3), seconds_left=left or None)
        if process.returncode != 0:
            raise ConfigError("".join(lines).strip() or "the training ended early")

    def _update(self, **changes: object) -> None:
        with self._lock:
            self._answer = msgspec.structs.replace(self._answer, **changes)


def make_lesson(blocks: Sequence[str]) -> Lesson:
    """Divide the sentences of a file; too few finished ones are refused."""
    learned: list[Sentence] = []
    held_out: list[Sentence] = []
    replayed: list[Sentence] = []
    for block in blocks:
        is_done = status_of(block) == "done"
        if not is_done and len(replayed) >= MAX_REPLAYED:
            continue
        try:
            sentence = read_block(clean_block(block))
        except DataError:
            continue  # it cannot be learned from, and is shown as broken elsewhere
        if not len(sentence):
            continue
        if not is_done:
            replayed.append(_bare(sentence))
        elif None not in sentence.heads and _is_held_out(sentence):
            held_out.append(sentence)
        else:
            learned.append(sentence)
    if not held_out and len(learned) > 1:
        held_out.append(learned.pop())
    if len(learned) + len(held_out) < FEWEST_SENTENCES:
        what = f"only {len(learned) + len(held_out)} sentences are finished"
        raise ConfigError(what, f"finish {FEWEST_SENTENCES} or more, then teach")
    return Lesson(learned, held_out, replayed)


def write_lesson(lesson: Lesson, folder: Path) -> list[str]:
    """Write the files of a training into a folder; return the arguments that name them."""
    train = _write(folder / "learned.conllu", lesson.learned)
    # What is held out must not choose the epoch, so the sentences that are learned do.
    whole = [one for one in lesson.learned if None not in one.heads] or lesson.held_out
    dev = _write(folder / "dev.conllu", whole)
    arguments = [_RECIPE, "--train", train, "--dev", dev]
    if lesson.replayed:
        replay = _write(folder / "replayed.conllu", lesson.replayed)
        arguments += ["--set", f"start.replay={msgspec.json.encode(replay).decode()}"]
    return arguments


def measure(parser: Parser, gold: Sequence[Sentence]) -> HeldOutScores:
    """Parse sentences and compare the trees with those that they have."""
    predicted = [sentence for sentence, _ in parser.annotate(gold)]
    scores = score(gold, [one for one in predicted if isinstance(one, Sentence)])
    return HeldOutScores(round(scores.uas, 2), round(scores.las, 2))


def _bare(sentence: Sentence) -> Sentence:
    """Leave the words only: the parser annotates them as it does now."""
    empty = {"head": BLANK, "deprel": BLANK, "deps": BLANK}
    return sentence.with_words([word._replace(**empty) for word in sentence.words])


def _is_held_out(sentence: Sentence) -> bool:
    """Choose by the words, so that a sentence that was held out once is never learned from."""
    words = "\n".join(word.form for word in sentence.words)
    return hashlib.sha256(words.encode("utf-8")).digest()[0] % _HELD_OUT == 0


def _write(path: Path, sentences: Sequence[Sentence]) -> str:
    with whole_file(path) as stream:
        for part in join_blocks([sentence.conllu for sentence in sentences]):
            stream.write(part.encode("utf-8"))
    return str(path)


def _free_folder(beside: Path) -> Path:
    names = (beside.with_name(f"{beside.name}.headwise-taught-{n}") for n in range(1, 10_000))
    return next(name for name in names if not os.path.lexists(name))


def _make_folder(folder: Path, mode: int) -> None:
    """Create a new folder that those can enter who can read a file with these permissions."""
    with writing(str(folder), "can a folder be created there?"):
        folder.mkdir(mode | (mode & 0o444) >> 2)
