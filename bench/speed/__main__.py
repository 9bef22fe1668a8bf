"""The command: `python -m bench.speed setup|run`."""

import argparse
import json
import lzma
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from bench.segment import text_of
from bench.speed import __doc__ as description
from bench.speed.report import Row, plot, stage_table, table
from bench.speed.systems import REQUIREMENTS, ROOT, System, all_systems, set_up, set_up_paper
from headwise import read_sentences

TOOLS = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "__pycache__")
HELLO = "Kids love candy."


def unpack(treebank: Path, target: Path) -> Path:
    """Decompress the three parts of a treebank into a folder."""
    target.mkdir(parents=True, exist_ok=True)
    for part in ("train", "dev", "test"):
        path = target / f"{part}.conllu"
        if not path.exists():
            path.write_bytes(lzma.decompress((treebank / f"{part}.conllu.xz").read_bytes()))
    return target


def size_of(folder: Path) -> float:
    """Measure the size of an environment in megabytes, without pip and the like."""
    (packages,) = folder.glob("lib/python*/site-packages")
    kept = [entry for entry in packages.iterdir() if not entry.name.startswith(TOOLS)]
    files = (path for entry in kept for path in ([entry] if entry.is_file() else entry.rglob("*")))
    return sum(path.stat().st_size for path in files if path.is_file()) / 1e6


def own_size() -> float:
    """Measure the size of headwise and the dependencies it parses with, in megabytes."""
    seen, waiting = set(), ["headwise"]
    total = sum(
        p.stat().st_size for p in (ROOT / "src").rglob("*") if p.suffix != ".pyc" and p.is_file()
    )
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        package = metadata.distribution(name)
        needed = [Requirement(one) for one in package.requires or []]
        waiting += [
            one.name for one in needed if not one.marker or one.marker.evaluate({"extra": ""})
        ]
        if name != "headwise":
            paths = [Path(str(file.locate())) for file in package.files or []]
            total += sum(path.stat().st_size for path in paths if path.is_file())
    return total / 1e6


def measure_all(systems: list[System], sources: dict[str, Path], rounds: int) -> list[Row]:
    """Run all systems in turn, several rounds; return a row of medians for each."""
    runs: dict[int, list[Row]] = {i: [] for i in range(len(systems))}
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(rounds):
            for i, system in enumerate(systems):
                if number and runs[i][0]["seconds"] > 30:
                    continue  # one round is enough for a slow parser
                measured = system.run(sources[system.what], Path(scratch) / "out.conllu")
                runs[i].append(measured)
                speed = f"{measured['words'] / measured['seconds']:,.0f} words/s, "
                speed += f"{measured['words'] / measured['cpu']:,.0f} words/CPU s"
                workers = f"{system.threads} x {system.processes}"
                title = f"{number + 1}: {system.name}, {system.what}, {workers}"
                print(f"{title}: {speed}", file=sys.stderr, flush=True)
    return [
        _row(system, runs[i], runs[baseline_of(systems, i)]) for i, system in enumerate(systems)
    ]


def baseline_of(systems: list[System], i: int) -> int:
    """Find the baseline of a system: the first one with the same input on one thread."""
    wanted = (1, 1, systems[i].what)
    return next(
        (n for n, one in enumerate(systems) if (one.threads, one.processes, one.what) == wanted), i
    )


def _row(system: System, runs: list[Row], baseline: list[Row]) -> Row:
    """Compute medians; `times`, how much faster the baseline is, compares runs of the same round.

    With one thread it compares CPU time.
    """
    clock = "cpu" if system.threads == system.processes == 1 else "seconds"
    times = [one[clock] / base[clock] for one, base in zip(runs, baseline, strict=False)]
    return {
        "times": statistics.median(times),
        "name": system.name,
        "what": system.what,
        "threads": system.threads,
        "processes": system.processes,
        "words": statistics.median(one["words"] / one["seconds"] for one in runs),
        "cpu_words": statistics.median(one["words"] / one["cpu"] for one in runs),
        "best": max(one["words"] / one["seconds"] for one in runs),
        "load": statistics.median(one["load"] for one in runs),
        "peak": max(one["peak"] for one in runs),
        "size": own_size() if system.folder == Path() else size_of(system.folder),
        "runs": len(runs),
    }


def steps(model: str, source: Path, what: str) -> dict[str, float]:
    """Measure where the time goes: microseconds per word for each step."""
    command = [sys.executable, "-m", "bench.speed.stages", model, str(source), what]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=ROOT)
    microseconds: dict[str, float] = json.loads(done.stdout)
    return microseconds


def cold_start(rounds: int) -> dict[str, float]:
    """Time the whole command on one sentence, including loading the model."""
    command = [sys.executable, "-m", "headwise", "parse", HELLO, "--quiet"]
    walls = []
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        walls.append(time.perf_counter() - began)
    return {"seconds": statistics.median(walls), "best": min(walls)}


def processor() -> str:
    """Name the processor."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.partition(':')[2].strip()}, {os.cpu_count()} cores"
    return platform.processor()


def run(given: argparse.Namespace) -> None:
    """Measure and write `speed.json`, `speed.md` and `speed.png`."""
    data = unpack(given.data, given.envs / "data")
    source = data / f"{given.part}.conllu"
    text = given.envs / f"{given.part}.txt"
    text.write_text(text_of([s for s in read_sentences(source) if len(s)]), encoding="utf-8")
    systems = all_systems(given.envs, given.systems, given.model)
    rows = measure_all(systems, {"conllu": source, "text": text}, given.rounds)
    stages = {"en, gold tokens": steps(given.model, source, "conllu")}
    stages["en, raw text"] = steps(given.model, text, "text")
    if (given.envs / "paper" / "model").exists():
        stages["paper's sizes, gold tokens"] = steps(str(given.envs / "paper"), source, "conllu")
    start = cold_start(max(3, given.rounds))
    measured = {"machine": processor(), "rows": rows, "stages": stages, "cold_start": start}
    report = (
        f"{given.data.name}, {given.part}; {processor()}; medians of {given.rounds} rounds.\n\n"
        f'{table(rows)}\n\n{stage_table(stages)}\n\nCold start, `headwise parse "{HELLO}"`: '
        f"{start['seconds']:.2f} s (best {start['best']:.2f}).\n"
    )
    print(report)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "speed.json").write_text(json.dumps(measured, indent=1) + "\n")
    (given.out / "speed.md").write_text(report)
    plot(rows, given.out / "speed.png")


def main() -> None:
    """Set up, or run."""
    options = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("what", choices=["setup", "run"])
    options.add_argument("--data", type=Path, required=True, help="folder with train, dev, test")
    options.add_argument("--envs", type=Path, default=Path(".cache/speed"))
    options.add_argument("--systems", nargs="*", default=list(REQUIREMENTS), choices=REQUIREMENTS)
    options.add_argument("--model", default="en", help="the model shown as en in the tables")
    options.add_argument("--part", default="test", choices=["dev", "test"])
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--out", type=Path, default=Path("runs/speed"))
    given = options.parse_args()
    given.envs = given.envs.resolve()
    if given.what == "setup":
        data = unpack(given.data, given.envs / "data")
        set_up(given.envs, data, given.systems)
        set_up_paper(given.envs, data, ROOT / "configs" / "paper-ewt.toml")
    else:
        run(given)


if __name__ == "__main__":
    main()
