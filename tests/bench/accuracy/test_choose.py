"""Ensembles are chosen by what they give together, and each member is asked once."""

from pathlib import Path

import pytest

from bench.accuracy.choose import main
from bench.accuracy.measure import DECODE, score_file
from headwise.learn.scorer import load_torch_parser
from headwise.model.bundle import find_model, load_bundle
from headwise.runtime.parser import join_parsers


def test_every_choice_has_the_score_of_its_ensemble(
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
    told = [float(line.split()[2]) for line in lines]
    assert told == sorted(told, reverse=True)
    for line in lines:
        uas, _, las, *names = line.split()
        members = [load_bundle(find_model(str(runs[name]))) for name in names]
        parsers = [load_torch_parser(one, "cpu", DECODE) for one in members]
        found = score_file(join_parsers(parsers), tiny_treebank, 1)
        assert (uas, las) == (f"{found.uas:.2f}", f"{found.las:.2f}")
