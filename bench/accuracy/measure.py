"""Parse dev and test with a model or an ensemble, by PyTorch and in int8, and score them.

    python -m bench.accuracy.measure PLAN DATA ROW DEVICE THREADS OUTPUT MODEL...

Gold words, every word counts, labels in full, one root; trees are repaired by Chu-Liu-Edmonds.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import headwise
from bench.accuracy.plan import Plan, read_plan
from bench.accuracy.results import PartScores, Scores
from bench.paper.results import write_json
from headwise import DecodeConfig, Sentence
from headwise.evaluate.scores import score
from headwise.model.bundle import WEIGHTS, Bundle, find_model, load_bundle
from headwise.runtime.parser import Parser

DECODE = DecodeConfig(decoder="mst", single_root=True)
N_DECIMALS = 4


def files_of(plan: Plan, row: str, data: Path) -> dict[str, Path]:
    """Name the files that a row is measured on."""
    own = plan.treebanks[plan.rows[row].treebank]
    others = {name: plan.treebanks[name] for name in plan.rows[row].tests}
    files = {part: own.path(data, part) for part in ("dev", "test")}
    return files | {name: one.path(data, "test") for name, one in others.items()}


def score_file(parser: Parser, path: Path, threads: int) -> PartScores:
    """Parse the gold words of a file and score every one of them.

    A model that tells treebanks apart and knows that of the file reads it as such.
    """
    scorer = parser.scorer.in_treebank(path.resolve().parent.name)
    parser = Parser(scorer, parser.segmenter, parser.settings)
    gold = [sentence for sentence in headwise.read_sentences(path) if len(sentence)]
    parsed = [one for one, _ in parser.annotate(gold, threads) if isinstance(one, Sentence)]
    found = score(gold, parsed)
    return PartScores(
        n_words=found.n_words,
        uas=round(found.uas, N_DECIMALS),
        las=round(found.las, N_DECIMALS),
    )


def torch_device(name: str) -> str:
    """Name a device for PyTorch; by `cpu` alone, headwise means ONNX Runtime."""
    return "cpu:0" if name == "cpu" else name


def measure(files: dict[str, Path], models: Sequence[Bundle], device: str, threads: int) -> Scores:
    """Measure one model, or several as an ensemble."""
    heavy = headwise.load(models, device=torch_device(device), decode=DECODE)
    light = headwise.load(models, precision="int8", decode=DECODE)
    machine = models[0].manifest.provenance.get("machine", "unknown")
    return Scores(
        torch={name: score_file(heavy, path, 1) for name, path in files.items()},
        int8={name: score_file(light, path, threads) for name, path in files.items()},
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
    files = files_of(plan, row, Path(data))
    write_json(Path(output), measure(files, bundles, device, int(threads)))


if __name__ == "__main__":
    main(*sys.argv[1:])
