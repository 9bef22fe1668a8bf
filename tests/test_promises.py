"""What we promise about the model in the package: memory, accuracy, a card."""

import resource
import subprocess
import sys
from pathlib import Path

import headwise
from headwise.evaluate.scores import score
from headwise.model.bundle import MANIFEST, load_bundle
from headwise.model.find import DEFAULT_MODEL, MODELS_FOLDER, named_models

SAMPLE = Path(__file__).parent / "fixtures" / "ewt-dev-100.conllu"
GIBIBYTE = 2**30


def peak_memory(source: Path, *flags: str) -> tuple[bytes, int]:
    """Parse a file in a process of its own; give its output and its peak resident memory."""
    command = [sys.executable, "-m", "headwise", "parse", str(source), "--quiet", *flags]
    done = subprocess.run(command, capture_output=True, check=True)
    # ru_maxrss of children is that of the largest so far, so this is an upper bound.
    return done.stdout, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def write_words(path: Path, words: list[tuple[str, str]]) -> Path:
    sentence = headwise.sentence_from_words(words, ["form", "xpos"])
    path.write_text(sentence.conllu, encoding="utf-8")
    return path


def test_a_100000_character_word_parses(tmp_path: Path) -> None:
    path = write_words(tmp_path / "w.conllu", [("Kids", "NNS"), ("o" * 100_000, "VBP")])
    output, memory = peak_memory(path)
    assert output.count(b"\n") == 3
    assert memory < 2 * GIBIBYTE


def test_a_5000_word_sentence_parses_in_bounded_memory(tmp_path: Path) -> None:
    some = [(w.form, w.xpos) for s in headwise.read_sentences(SAMPLE) for w in s.words]
    path = write_words(tmp_path / "s.conllu", (some * 3)[:5000])
    output, memory = peak_memory(path)
    heads = [int(line.split(b"\t")[6]) for line in output.splitlines() if line]
    assert len(heads) == 5000
    assert heads.count(0) == 1
    assert memory < 2 * GIBIBYTE


def test_the_model_in_the_package_is_complete_and_accurate() -> None:
    assert DEFAULT_MODEL in named_models()
    parser = headwise.load()
    gold = list(headwise.read_sentences(SAMPLE))
    scores = score(gold, [s for s, _ in parser.annotate(gold) if isinstance(s, headwise.Sentence)])
    assert scores.uas > 85
    assert scores.las > 82
    assert scores.single_root_rate == 100


def test_the_model_in_the_package_has_a_card() -> None:
    inside = sorted(path.parent for path in MODELS_FOLDER.glob(f"*/{MANIFEST}"))
    assert DEFAULT_MODEL in [folder.name for folder in inside]
    for folder in inside:
        card = (folder / "README.md").read_text(encoding="utf-8")
        for word in ("licence", "seed", "UAS", "headwise train", "headwise evaluate"):
            assert word.lower() in card.lower(), (folder.name, word)
        assert load_bundle(folder).manifest.provenance["seed"]
