from pathlib import Path

import msgspec
import pytest

from headwise.errors import ConfigError
from headwise.learn.fit.checkpoint import Checkpoint, CheckpointWriter, Progress, require_same_run
from headwise.settings.recipe import Recipe


@pytest.mark.parametrize(("waited", "is_due"), [(19.9, False), (20.1, True)])
def test_checkpoints_take_a_twentieth_of_the_time(
    waited: float, is_due: bool, tmp_path: Path
) -> None:
    clock = iter([0.0, 1.0, 100.0, 101.0, 101.0 + waited])
    writer = CheckpointWriter(lambda: next(clock))
    assert writer.is_due()
    writer.save(tmp_path, Checkpoint(Progress(recipe=b"", data=""), {}, {}, {}, {}))
    assert writer.is_due() is is_due


def test_a_setting_that_is_newer_than_a_run_has_its_default(
    tiny_recipe: Recipe, tmp_path: Path
) -> None:
    tables = msgspec.json.decode(msgspec.json.encode(tiny_recipe))
    del tables["train"]["calibrate"]
    progress = Progress(recipe=msgspec.json.encode(tables), data="x")
    require_same_run(tmp_path, progress, tiny_recipe, "x")
    tables["train"]["gone"] = 1
    progress = Progress(recipe=msgspec.json.encode(tables), data="x")
    with pytest.raises(ConfigError, match="another recipe"):
        require_same_run(tmp_path, progress, tiny_recipe, "x")
