"""Write pyproject.toml of each model of this release anew, with the version of headwise."""

from pathlib import Path

from headwise.model.bundle import load_bundle
from headwise.model.card import project_file
from headwise.model.find import packages_in

MODELS = Path(__file__).parents[1] / "models"

for name, folder in packages_in(MODELS).items():
    text = project_file(name, load_bundle(folder).manifest)
    (MODELS / name / "pyproject.toml").write_text(text)
