"""Every ensemble of a given size is scored, the best first."""

from pathlib import Path

import pytest

import headwise
from bench.accuracy.choose import main
from bench.accuracy.measure import DECODE, score_file


def test_every_ensemble_is_scored(
    tiny_run: Path,
    full_run: Path,
    encoder_run: Path,
    tiny_treebank: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs = {run.name: run for run in (tiny_run, full_run, encoder_run)}
    main([str(tiny_treebank), *map(str, runs.values()), "--size", "2"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    scores = [float(line.split()[2]) for line in lines]
    assert scores == sorted(scores, reverse=True)
    for line in lines:
        uas, _, las, *names = line.split()
        parser = headwise.load([runs[name] for name in names], device="cpu:0", decode=DECODE)
        found = score_file(parser, tiny_treebank, 1)
        assert (uas, las) == (f"{found.uas:.2f}", f"{found.las:.2f}")
