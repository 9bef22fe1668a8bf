import argparse
from pathlib import Path

from bench.seeds import SHOWN, Row, job_of, means


def made_row(runtime: str, value: float) -> Row:
    row: Row = {"runtime": runtime, "precision": "int8", "decoder": "mst"}
    return row | dict.fromkeys(SHOWN, value)


def test_means_are_over_seeds() -> None:
    seeds = [[made_row("torch", 1.0), made_row("onnx", 2.0)], [made_row("torch", 3.0)] * 2]
    table = means({"recipe": seeds}).splitlines()
    assert table[2].startswith("| recipe | 2 | torch int8 | mst | 2.00 ± 1.41 |")
    assert table[3].startswith("|  | 2 | torch int8 | mst | 2.50 ± 0.71 |".replace("torch", "onnx"))


def test_a_run_is_trained_and_measured() -> None:
    given = argparse.Namespace(
        out=Path("out"), data=Path("data"), device="cpu", precision="float32", set=["a.b=1"]
    )
    job = job_of(Path("configs/x.toml"), 3, given)
    assert job.folder == Path("out/x-3")
    assert [step.name for step in job.steps] == ["train", "measure"]
    assert job.steps[0].command[-2:] == ("--set", "a.b=1")
