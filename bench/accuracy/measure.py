"""Parse dev and test with a model or an ensemble, with PyTorch and in int8, and score them.

    python -m bench.accuracy.measure PLAN DATA ROW DEVICE THREADS OUTPUT MODEL...

Gold words, every word counts, labels in full, one root; trees are repaired by Chu-Liu-Edmonds.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

import headwise
from bench.accuracy.plan import read_plan
from bench.experiment.results import write_json
from headwise import DecodeConfig, Sentence
from headwise.evaluate.scores import score
from headwise.model.bundle import WEIGHTS, Bundle, load_bundle
from headwise.model.find import find_model
from headwise.runtime.parser import Parser

DECODE = DecodeConfig(decoder="mst", single_root=True)
N_DECIMALS = 4


class PartScores(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of one file, every word, in percent."""

    n_words: int
    uas: float
    las: float


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of one model or ensemble, by `dev`, `test` and the names of other tests."""

    torch: dict[str, PartScores]
    int8: dict[str, PartScores]
    machine: str
    """What the training ran on."""
    n_bytes: int
    """Size of the files that int8 needs."""

    def summary(self) -> str:
        """Give UAS and LAS on dev."""
        return f"dev {self.torch['dev'].uas:.2f} / {self.torch['dev'].las:.2f}"


def score_file(parser: Parser, path: Path, threads: int) -> PartScores:
    """Parse the gold words of a file and score every one of them.

    If the model was trained with treebank embeddings and knows the treebank of the file, it
    uses that one.
    """
    scorer = parser.scorer.in_treebank(path.resolve().parent.name)
    parser = Parser(scorer, parser.segmenter, parser.settings)
    gold = [sentence for sentence in headwise.read_sentences(path) if len(sentence)]
    parsed = [one for one, _ in parser.annotate(gold, threads) if isinstance(one, Sentence)]
    scores = score(gold, parsed)
    uas, las = round(scores.uas, N_DECIMALS), round(scores.las, N_DECIMALS)
    return PartScores(n_words=scores.n_words, uas=uas, las=las)


def torch_device(name: str) -> str:
    """Name a device for PyTorch; plain `cpu` would mean ONNX Runtime."""
    return "cpu:0" if name == "cpu" else name


def measure(files: dict[str, Path], models: Sequence[Bundle], device: str, threads: int) -> Scores:
    """Measure one model, or several as an ensemble."""
    torch_parser = headwise.load(models, device=torch_device(device), decode=DECODE)
    int8_parser = headwise.load(models, precision="int8", decode=DECODE)
    machine = models[0].manifest.provenance.get("machine", "unknown")
    return Scores(
        torch={name: score_file(torch_parser, path, 1) for name, path in files.items()},
        int8={name: score_file(int8_parser, path, threads) for name, path in files.items()},
        machine=machine,
        n_bytes=sum(map(size_in_int8, models)),
    )


def size_in_int8(model: Bundle) -> int:
    """Add up the files that int8 needs."""
    files = model.manifest.files.items()
    return sum(entry.size for name, entry in files if name != WEIGHTS and "float32" not in name)


def main(
    plan_path: str, data: str, row: str, device: str, threads: str, output: str, *models: str
) -> None:
    """Measure one run."""
    plan = read_plan(Path(plan_path))
    bundles = [load_bundle(find_model(model)) for model in models]
    files = plan.measured_files(row, Path(data))
    write_json(Path(output), measure(files, bundles, device, int(threads)))


if __name__ == "__main__":
    main(*sys.argv[1:])
