"""The paper's recipe, Sec. 4.2: Adam, then SGD from the best epoch, then labels; and resume.

    adam   at most 15 epochs, until greedy dev UAS stops rising
    sgd    from the best epoch, at most 10 more, likewise
    label  20 epochs of AdaGrad on gold heads; the best dev LAS on repaired trees stays

`run` is a generator: whoever drives it sees every report and may stop at any time; the checkpoint
in the run's folder goes on from the last epoch that was saved.
"""

import copy
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from time import monotonic

import msgspec
from torch import Tensor, nn

from headwise.errors import HeadwiseError
from headwise.files import make_folder, whole_file
from headwise.learn.data.treebanks import load_data
from headwise.learn.distil.teach import with_lessons
from headwise.learn.export.encoder import export_encoder
from headwise.learn.export.model import export_model
from headwise.learn.fit.calibrate import CalibrationReport, calibrate, check_calibration
from headwise.learn.fit.checkpoint import (
    Checkpoint,
    EpochReport,
    Phase,
    Progress,
    load_checkpoint,
    optimiser_tensors,
    require_same_run,
    restore_optimiser,
)
from headwise.learn.fit.loop import Device, StartReport, StepReport, make_deterministic
from headwise.learn.fit.phases import PhasePlan, Run, plan_adam, plan_label, plan_sgd, score_others
from headwise.learn.fit.pretrained import find_subwords, make_network, set_weights
from headwise.learn.segment.train import SegmentReport, export_segmenter, train_segmenter
from headwise.model.bundle import Description
from headwise.network.kernels.launch import prepare
from headwise.network.network import Network
from headwise.settings.recipe import Recipe
from headwise.text.segmenter import SEGMENTER_GRAPH, SEGMENTER_SETTINGS

Report = StartReport | StepReport | EpochReport | SegmentReport | CalibrationReport
MakePlan = Callable[[Run], PhasePlan]


def run(
    recipe: Recipe, folder: Path, device: Device, provenance: dict[str, str]
) -> Iterator[Report]:
    """Train a parser in `folder`, going on where an earlier run of the same recipe stopped.

    Leaves the model in `folder/model`, and `recipe.json`, `metrics.json` and `log.txt` beside it.
    Several processes (`device.group`) train the network together; the first does the rest alone.
    """
    group = device.group
    if group.leads:
        make_folder(folder)
    try:
        state = start(recipe, folder, device)
    except HeadwiseError:
        if group.leads and not any(folder.iterdir()):
            folder.rmdir()
        raise
    if state.progress.finished and (folder / "model").exists():
        group.leave()
        return
    train_data = state.data.train
    yield StartReport(
        len(train_data.encoded),
        train_data.n_words,
        state.data.n_too_long,
        len(state.data.dev.encoded),
        len(recipe.teach.models) if recipe.teach else 0,
    )
    yield from train(state)
    group.leave()
    if not group.leads:
        return
    others = yield from _train_segmenter(state)
    scores = _scores(state.progress) | state.progress.segment | score_others(state)
    scores |= yield from calibrate(state)
    others |= export_encoder(state.kept.cpu(), state.data.vocab)
    description = Description(recipe.model, recipe.decode, provenance, scores)
    export_model(state.kept, state.data.vocab, description, folder / "model", others)
    state.progress = msgspec.structs.replace(state.progress, finished=True)
    _save(state, {})


def _train_segmenter(state: Run) -> Generator[SegmentReport, None, dict[str, bytes]]:
    """Learn to find words in raw text, where the recipe asks for it; give the model's files.

    It takes minutes, so it begins anew after an interruption; a finished one lies in the folder. Of
    several treebanks it learns the main one's ways.
    """
    recipe = state.recipe
    if recipe.segment is None:
        return {}
    paths = {name: state.folder / name for name in (SEGMENTER_GRAPH, SEGMENTER_SETTINGS)}
    if not (state.progress.segment and all(path.exists() for path in paths.values())):
        data, seed, device = state.data, recipe.train.seed, state.device.where
        for report in train_segmenter(data.main_train, data.main_dev, recipe.segment, seed, device):
            yield report
        for name, data_bytes in export_segmenter(report.best).items():
            with whole_file(paths[name]) as stream:
                stream.write(data_bytes)
        dev = report.best_dev
        scores = {"dev_words": dev.words, "dev_sentences": dev.sentences}
        state.progress = msgspec.structs.replace(state.progress, segment=scores)
        _save(state, {})
    return {name: path.read_bytes() for name, path in paths.items()}


def train(state: Run) -> Iterator[Report]:
    """Run the phases that are left; the network has the best weights at the end."""
    phases: list[tuple[Phase, MakePlan]] = [
        ("adam", plan_adam),
        ("sgd", plan_sgd),
        ("label", plan_label),
    ]
    names = [name for name, _ in phases]
    for name, make_plan in phases[names.index(state.progress.phase) :]:
        if name != "label" or state.recipe.label.epochs:
            yield from _run_phase(state, name, make_plan)


def _scores(progress: Progress) -> dict[str, float]:
    """Tell what dev said of the network that was kept."""
    best = [report for report in progress.history if report.is_best] or progress.history
    tags = next((report.dev_tags for report in reversed(best) if report.dev_tags), {})
    las = best[-1].dev_las
    if las is None:  # no epoch of the label phase was better than what it started with
        las = progress.best_score
    scores = {"dev_uas": best[-1].dev_uas, "dev_las": las}
    return scores | {f"dev_{column}": score for column, score in tags.items()}


def start(recipe: Recipe, folder: Path, device: Device) -> Run:
    """Load the data and build the network, from the checkpoint in `folder` if there is one."""
    check_calibration(recipe)
    make_deterministic(device.where)
    subwords = find_subwords(folder, recipe.model.encoder, keep=device.group.leads)
    with ThreadPoolExecutor(1) as aside:
        aside.submit(prepare, device.where)
        data = load_data(recipe.data, recipe.model, recipe.train, subwords)
    data, lessons = with_lessons(recipe, data, folder, device.where)
    fingerprint = data.fingerprint() + (lessons.key if lessons else "")
    network = make_network(recipe, data, device.where)
    encoded = msgspec.json.encode(recipe)
    checkpoint = load_checkpoint(folder)
    _require_same_start(device, encoded, fingerprint, checkpoint)
    if checkpoint is None:
        if network.encoder is not None:
            set_weights(network.encoder, Path(recipe.model.encoder))
        if device.group.leads:
            with whole_file(folder / "recipe.json") as stream:
                stream.write(msgspec.json.format(encoded, indent=2) + b"\n")
        progress = Progress(recipe=encoded, data=fingerprint)
        kept = _average_of(network, recipe)
        return Run(recipe, data, device, folder, network, kept, _copy(network), progress, lessons)
    require_same_run(folder, checkpoint.progress, recipe, fingerprint)
    network.load_state_dict(checkpoint.weights)
    kept = _average_of(network, recipe)
    if checkpoint.kept:
        kept.load_state_dict(checkpoint.kept)
    best = dict(checkpoint.best)
    return Run(recipe, data, device, folder, network, kept, best, checkpoint.progress, lessons)


def _require_same_start(
    device: Device, recipe: bytes, fingerprint: str, checkpoint: Checkpoint | None
) -> None:
    """Refuse processes that would train different things: on other machines, say."""
    progress = msgspec.json.encode(checkpoint.progress) if checkpoint else b""
    device.group.require_same(recipe=recipe, treebank=fingerprint.encode(), checkpoint=progress)


def _average_of(network: Network, recipe: Recipe) -> Network:
    """Make the network that is scored and kept: a copy where weights are averaged."""
    if not recipe.train.average:
        return network
    copied = copy.deepcopy(network)
    for part in copied.modules():
        if isinstance(part, nn.LSTM):
            part.flatten_parameters()
    return copied


def _run_phase(state: Run, name: Phase, make_plan: MakePlan) -> Iterator[Report]:
    if state.progress.phase != name:
        _enter(state, name)
    if name == "label":
        state.kept = state.network  # only heads are averaged
    plan = make_plan(state)
    if state.progress.epoch:
        checkpoint = load_checkpoint(state.folder)
        assert checkpoint is not None
        restore_optimiser(plan.optimiser, checkpoint.optimiser)
    if plan.starts_scored and not state.progress.epoch:
        las = plan.score().las
        assert las is not None
        state.best = _copy(state.kept)
        state.progress = msgspec.structs.replace(state.progress, best_score=las)
    while state.progress.epoch < plan.n_epochs and state.progress.n_worse < plan.patience:
        started = monotonic()
        epoch = state.progress.epoch + 1
        loss = 0.0
        for step in plan.steps(plan.optimiser, epoch):
            loss = step.loss
            yield replace(step, n_epochs=plan.n_epochs)
        yield _finish_epoch(state, plan, loss, started)
    state.network.load_state_dict(state.best)
    state.kept.load_state_dict(state.best)


def _enter(state: Run, name: Phase) -> None:
    """Begin a phase: SGD goes on from the best score of Adam, labels have a score of their own."""
    best_score = state.progress.best_score if name == "sgd" else -1.0
    state.progress = msgspec.structs.replace(
        state.progress, phase=name, epoch=0, n_worse=0, best_score=best_score
    )


def _finish_epoch(state: Run, plan: PhasePlan, loss: float, started: float) -> EpochReport:
    scores = plan.score()
    score = scores.uas if scores.las is None else scores.las
    progress = state.progress
    is_best = score > progress.best_score
    if is_best:
        state.best = _copy(state.kept)
    report = EpochReport(
        phase=plan.name,
        epoch=progress.epoch + 1,
        loss=loss,
        dev_uas=scores.uas,
        dev_las=scores.las,
        dev_tags=dict(scores.tags),
        tree_rate=scores.tree_rate,
        is_best=is_best,
        seconds=monotonic() - started,
    )
    state.progress = msgspec.structs.replace(
        progress,
        epoch=progress.epoch + 1,
        best_score=max(score, progress.best_score),
        n_worse=0 if is_best else progress.n_worse + 1,
        history=[*progress.history, report],
    )
    if state.device.group.leads:
        if state.saving.is_due():
            _save(state, optimiser_tensors(plan.optimiser))
        _write_log(state)
    return report


def _save(state: Run, optimiser: dict[str, Tensor]) -> None:
    weights = state.network.state_dict()
    kept = {} if state.kept is state.network else state.kept.state_dict()
    state.saving.save(
        state.folder, Checkpoint(state.progress, weights, kept, state.best, optimiser)
    )


def _write_log(state: Run) -> None:
    history = state.progress.history
    with whole_file(state.folder / "metrics.json") as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(history), indent=1) + b"\n")
    with whole_file(state.folder / "log.txt") as stream:
        stream.write("".join(f"{as_line(report)}\n" for report in history).encode())


def as_line(report: EpochReport) -> str:
    """Write what an epoch gave on one line."""
    las = "" if report.dev_las is None else f"  LAS {report.dev_las:.2f}"
    tags = "".join(f"  {name.upper()} {score:.2f}" for name, score in report.dev_tags.items())
    best = "  best" if report.is_best else ""
    return (
        f"{report.phase:5} {report.epoch:2}  loss {report.loss:.4f}  dev UAS {report.dev_uas:.2f}"
        f"{las}{tags}  trees {report.tree_rate:.1f}%  {report.seconds:.1f} s{best}"
    )


def _copy(network: Network) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}
