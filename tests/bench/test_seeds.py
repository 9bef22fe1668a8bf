import argparse
from pathlib import Path

from bench.experiment.jobs import ROOT
from bench.seeds import SHOWN, Row, averages, job_of


def made_row(runtime: str, value: float) -> Row:
    row: Row = {"runtime": runtime, "precision": "int8", "decoder": "mst"}
    return row | dict.fromkeys(SHOWN, value)


def test_scores_are_averaged_over_seeds() -> None:
    seeds = [[made_row("torch", 1.0), made_row("onnx", 2.0)], [made_row("torch", 3.0)] * 2]
    table = averages({"recipe": seeds}).splitlines()
    assert table[2].startswith("| recipe | 2 | torch int8 | mst | 2.00 ± 1.41 |")
    assert table[3].startswith("|  | 2 | onnx int8 | mst | 2.50 ± 0.71 |")


def test_a_run_is_trained_and_measured() -> None:
    given = argparse.Namespace(
        out=Path("out"), data=Path("data"), device="cpu", precision="float32", set=["a.b=1"]
    )
    job = job_of(Path("configs/paper-ewt.toml"), 3, given)
    assert job.folder == Path("out/paper-ewt-3")
    assert [step.name for step in job.steps] == ["train", "measure"]
    assert job.steps[0].command[4] == str(ROOT / "configs/paper-ewt.toml")
    assert job.steps[0].command[-2:] == ("--set", "a.b=1")
