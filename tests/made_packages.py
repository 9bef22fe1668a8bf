"""Packages of models as pip leaves them behind."""

import shutil
from pathlib import Path


def install_by_hand(site: Path, name: str, model: Path, entry_point: str | None = None) -> Path:
    """Put a model and the metadata of its package into a folder of modules."""
    module = f"headwise_{name}"
    metadata = site / f"{module}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    line = entry_point or f"{name} = {module}"
    (metadata / "entry_points.txt").write_text(f"[headwise.models]\n{line}\n")
    return Path(shutil.copytree(model, site / module))
