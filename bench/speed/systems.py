"""The parsers that are compared, and how to run each."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
REQUIREMENTS = {
    "udpipe": ["ufal.udpipe==1.4.0.1"],
    "spacy": ["spacy==3.8.14"],
    "supar": ["torch==2.13.0", "supar==1.1.4"],
    "stanza": ["torch==2.13.0", "stanza==1.15.0"],
}
ENVIRONMENT = {"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}
"""Needed to load SuPar's own models."""


@dataclass(frozen=True, slots=True)
class System:
    """One row: a parser and its model, from `conllu` (gold tokens) or `text`."""

    name: str
    what: str
    command: tuple[str, ...]
    threads: int = 1
    processes: int = 1
    folder: Path = field(default_factory=Path)
    """The environment it is installed in, to measure its size."""

    def run(self, source: Path, target: Path) -> dict[str, float]:
        """Parse a file in a new process; return the measurements of `timed_run`."""
        command = [*self.command, str(source), str(target), self.what]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, env=_environment(self.threads), cwd=ROOT, check=True
        )
        measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return measured


def _environment(threads: int) -> dict[str, str]:
    """Set the number of threads for all libraries."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {**os.environ, **ENVIRONMENT, **dict.fromkeys(names, str(threads))}


def peer(name: str, envs: Path, what: str, threads: int = 1) -> System:
    """Describe one of the other parsers."""
    title = {"udpipe": "UDPipe 1", "spacy": "spaCy", "supar": "SuPar", "stanza": "Stanza"}[name]
    python = envs / name / "bin" / "python"
    command = (
        str(python),
        "-m",
        f"bench.speed.peers.run_{name}",
        "run",
        str(envs / f"{name}-model"),
    )
    return System(title, what, command, threads, folder=envs / name)


def ours(title: str, model: str, what: str) -> list[System]:
    """Describe one of our models, in the current environment, on one core and on two."""
    command = (sys.executable, "-m", "bench.speed.own", model)
    return [
        System(title, what, (*command, str(threads), str(processes)), threads, processes)
        for threads, processes in ((1, 1), (2, 1), (1, 2))
    ]


def all_systems(envs: Path, names: list[str], model: str) -> list[System]:
    """List the rows, ours first."""
    paper = str(envs / "paper")
    rows = ours("headwise en", model, "conllu")
    if (envs / "paper" / "model").exists():
        rows += ours("headwise, paper's sizes", paper, "conllu")
    rows += [peer(name, envs, "conllu") for name in names]
    rows += ours("headwise en", model, "text")
    rows += [peer(name, envs, "text") for name in names if name in ("udpipe", "spacy")]
    return rows


def set_up(envs: Path, data: Path, names: list[str]) -> None:
    """Create environments and train; skip what exists already."""
    for name in names:
        python = envs / name / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(envs / name)], check=True)
            pip = [str(python), "-m", "pip", "install", "--quiet", *REQUIREMENTS[name]]
            subprocess.run(pip, check=True)
        model = envs / f"{name}-model"
        if not model.exists():
            script = ["-m", f"bench.speed.peers.run_{name}", "train"]
            command = [str(python), *script, str(model), str(data)]
            subprocess.run(command, check=True, env=_environment(2), cwd=ROOT)


def set_up_paper(envs: Path, data: Path, config: Path) -> None:
    """Train the paper's network briefly on part of the treebank, until most outputs are trees."""
    if (envs / "paper" / "model").exists():
        return
    part_path = envs / "some.conllu"
    sentences = (data / "train.conllu").read_text(encoding="utf-8").split("\n\n")[:2_000]
    part_path.write_text("\n\n".join(sentences) + "\n\n", encoding="utf-8")
    shorter = ["train.adam_epochs=4", "train.sgd_epochs=0", "label.epochs=1"]
    changes = [part for one in shorter for part in ("--set", one)]
    files = ["--train", str(part_path), "--dev", str(part_path), "--out", str(envs / "paper")]
    command = [sys.executable, "-m", "headwise", "train", str(config), *changes, *files]
    subprocess.run(command, check=True)
