"""The model of a run that has not finished: its best epoch so far, from the checkpoint alone.

It is not calibrated. `UNFINISHED` in its provenance tells it from the model of a finished run.
"""

from dataclasses import replace
from pathlib import Path

import msgspec
import torch

from headwise.errors import ModelError
from headwise.learn.export.model import export_model
from headwise.learn.fit.checkpoint import Progress, load_checkpoint, read_kept_vocab
from headwise.learn.fit.pretrained import find_subwords
from headwise.learn.fit.reports import EpochReport
from headwise.model.bundle import Description
from headwise.model.find import UNFINISHED
from headwise.network.network import Network
from headwise.settings.recipe import Recipe
from headwise.text.segmenter import SEGMENTER_FILES, SEGMENTER_SETTINGS

VOCABULARY = "vocabulary"
"""The folder of a run with the vocabulary of its network."""


def export_best_epoch(folder: Path) -> EpochReport:
    """Write `folder/model` from the best epoch of the run so far, and report which one it is."""
    checkpoint = load_checkpoint(folder)
    if checkpoint is None or not checkpoint.progress.history:
        what = f"{folder}: this run was interrupted before its first epoch was saved"
        raise ModelError(what, "run the same headwise train command again to resume")
    progress = checkpoint.progress
    recipe = msgspec.json.decode(progress.recipe, type=Recipe)
    vocab = read_kept_vocab(folder / VOCABULARY)
    subwords = find_subwords(folder, recipe.model.encoder, keep=False)
    vocab = replace(vocab, subwords=subwords)
    network = Network(recipe.model, vocab)
    network.load_state_dict(checkpoint.best)
    report = best_report(progress)
    provenance = progress.provenance | {UNFINISHED: report.brief()}
    scores = best_scores(progress) | progress.segment
    description = Description(recipe.model, recipe.decode, provenance, scores)
    with torch.no_grad():
        export_model(network, vocab, description, folder / "model", segmenter_files(folder))
    return report


def segmenter_files(folder: Path) -> dict[str, bytes]:
    """Read the files of the segmenter that a run has trained or taken over, if there is one."""
    paths = [folder / name for name in SEGMENTER_FILES]
    files = {path.name: path.read_bytes() for path in paths if path.exists()}
    return files if SEGMENTER_SETTINGS in files else {}  # they are written last


def best_report(progress: Progress) -> EpochReport:
    """Give the report of the epoch whose weights were kept."""
    best = [report for report in progress.history if report.is_best] or progress.history
    return best[-1]


def best_scores(progress: Progress) -> dict[str, float]:
    """Give the dev scores of the network that was kept."""
    best = [report for report in progress.history if report.is_best] or progress.history
    tags = next((report.dev_tags for report in reversed(best) if report.dev_tags), {})
    scores = {"dev_uas": best[-1].dev_uas}
    if best[-1].dev_las is not None:
        scores["dev_las"] = best[-1].dev_las
    elif progress.phase == "label":  # none of its epochs was better than what it started with
        scores["dev_las"] = progress.best_score
    return scores | {f"dev_{column}": score for column, score in tags.items()}
