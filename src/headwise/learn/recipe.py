"""The paper's recipe, Sec. 4.2: Adam, then SGD from the best epoch, then labels; and resume.

    adam   at most 15 epochs, until greedy dev UAS stops rising
    sgd    from the best epoch, at most 10 more, likewise
    label  20 epochs of AdaGrad on gold heads; the best dev LAS on repaired trees stays

`run` is a generator of reports: its caller may stop at any time, and the next call resumes from the
last epoch that was saved.
"""

import copy
import shutil
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import msgspec
from torch import Tensor, nn

from headwise.errors import ConfigError, HeadwiseError
from headwise.files import make_folder, whole_file
from headwise.learn.calibrate import Calibration
from headwise.learn.compute import Compute, make_deterministic
from headwise.learn.data.treebanks import Data, load_data
from headwise.learn.distil.teachers import add_soft_targets
from headwise.learn.export.best_epoch import VOCABULARY, best_scores, segmenter_files
from headwise.learn.export.model import export_model
from headwise.learn.fit.checkpoint import (
    Checkpoint,
    Progress,
    keep_vocab,
    load_checkpoint,
    optimiser_tensors,
    require_same_run,
    restore_optimiser,
)
from headwise.learn.fit.dev_scores import score_dev
from headwise.learn.fit.phases import PhasePlan, Run, plan_adam, plan_label, plan_sgd
from headwise.learn.fit.pretrained import find_subwords, set_weights
from headwise.learn.fit.reports import (
    EpochReport,
    Phase,
    PhaseReport,
    Report,
    StartReport,
    TakenReport,
)
from headwise.learn.scorer import TorchScorer
from headwise.learn.segment.train import export_segmenter, train_segmenter
from headwise.learn.start.graphs import load_trained
from headwise.learn.start.model import keep_start, open_start
from headwise.learn.start.replay import add_replay
from headwise.learn.start.weights import take_weights
from headwise.model.bundle import Bundle, Description
from headwise.network.kernels.launch import prepare
from headwise.network.network import Network, build_network
from headwise.settings.recipe import Recipe
from headwise.vocabulary.vocab import Vocab

PLANS: dict[Phase, Callable[[Run], PhasePlan]] = {
    "adam": plan_adam,
    "sgd": plan_sgd,
    "label": plan_label,
}


def train_parser(
    recipe: Recipe, folder: Path, compute: Compute, provenance: dict[str, str]
) -> Iterator[Report]:
    """Train a parser in `folder`, or resume an earlier run of the same recipe there.

    The model is in `folder/model` at the end, `recipe.json`, `metrics.json` and `log.txt` beside
    it. Several processes (`compute.group`) train the network together; the first does the rest.
    """
    group = compute.group
    if group.leads:
        make_folder(folder)
    try:
        state = start(recipe, folder, compute)
    except HeadwiseError:
        if group.leads and not any(folder.iterdir()):
            folder.rmdir()
        raise
    if state.progress.finished and (folder / "model").exists():
        group.leave()
        return
    recipe = state.recipe
    train_data = state.data.train
    yield StartReport(
        len(train_data.encoded),
        train_data.n_words,
        state.data.n_too_long,
        len(state.data.dev.encoded),
        len(recipe.teach.models) if recipe.teach else 0,
        state.data.is_held_out,
    )
    if state.taken is not None:
        yield state.taken
    state.progress = msgspec.structs.replace(state.progress, provenance=provenance)
    # Several processes cannot wait so long for the first one.
    comes_first = not group.is_launched
    if comes_first:
        yield from _train_segmenter(state)
    yield from train_network(state)
    group.leave()
    if not group.leads:
        return
    if not comes_first:
        yield from _train_segmenter(state)
    _save(state, {})  # whatever happens from here on, no epoch is done again
    scores = best_scores(state.progress) | state.progress.segment
    scores |= _score_others(state)
    vocab, calibrated = yield from _calibrate(state)
    scores |= calibrated
    description = Description(recipe.model, recipe.decode, provenance, scores)
    for unfinished in folder.glob(".model.*"):  # of a process that was killed as it wrote them
        shutil.rmtree(unfinished)
    yield _begin(state, "model")
    export_model(state.kept, vocab, description, folder / "model", segmenter_files(folder))
    state.progress = msgspec.structs.replace(state.progress, finished=True)
    _save(state, {})


def _score_others(state: Run) -> dict[str, float]:
    """Score the further dev treebanks."""
    scores: dict[str, float] = {}
    for name, dev in state.data.others.items():
        other = score_dev(state.scorer(), dev, state.recipe.decode)
        scores |= {f"dev_uas {name}": other.uas, f"dev_las {name}": other.las or 0.0}
    return scores


PHASES = {
    "segment": "words in text",
    "adam": "heads",
    "sgd": "heads, by SGD",
    "label": "labels",
    "calibrate": "probabilities",
    "model": "graphs of the model",
}
"""What each phase of a run works on."""


def _begin(state: Run, phase: str) -> PhaseReport:
    """Describe the phase that begins, with its number and the number of phases."""
    train, label = state.recipe.train, state.recipe.label
    left_out = {
        "segment": state.recipe.segment is None,
        "sgd": not train.sgd_epochs,
        "label": not label.epochs,
        "calibrate": not train.calibrate,
    }
    phases = [one for one in PHASES if not left_out.get(one)]
    if "segment" in phases and state.compute.group.is_launched:
        last = [one for one in phases if one in PLANS][-1]
        phases.insert(phases.index(last), phases.pop(0))
    is_joint = phase == "adam" and label.joint
    what = "heads and labels" if is_joint else PHASES[phase]
    return PhaseReport(phases.index(phase) + 1, len(phases), what)


def _train_segmenter(state: Run) -> Iterator[Report]:
    """Train a segmenter of raw text on the main treebank, if the recipe asks for one.

    Training takes minutes, so after an interruption it starts again; a finished segmenter is kept
    in the folder. It comes first, so that a run that is interrupted later can read raw text.
    """
    config = state.recipe.segment
    if config is None or (state.progress.segment and segmenter_files(state.folder)):
        return
    yield _begin(state, "segment")
    data, seed, device = state.data, state.recipe.train.seed, state.compute.device
    for report in train_segmenter(data.main_train, data.main_dev, config, seed, device):
        yield report
    for name, data_bytes in export_segmenter(report.best).items():
        with whole_file(state.folder / name) as stream:
            stream.write(data_bytes)
    dev = report.best_dev
    scores = {"dev_words": dev.words, "dev_sentences": dev.sentences}
    state.progress = msgspec.structs.replace(state.progress, segment=scores)
    _save(state, {})


def _calibrate(state: Run) -> Generator[Report, None, tuple[Vocab, dict[str, float]]]:
    """Calibrate the kept network, if the recipe says so.

    Returns the vocabulary to export, and scores for the model's manifest.
    """
    data = state.data
    if not state.recipe.train.calibrate:
        return data.vocab, {}
    yield _begin(state, "calibrate")
    scorer = TorchScorer(state.kept, data.vocab, state.compute.device, with_tag_scores=True)
    calibration = Calibration(scorer, state.kept, data.dev, data.main_dev)
    scores = {}
    for report in calibration.run(state.recipe.decode):
        yield report
        suffix = "" if report.column == "heads" else f"_{report.column}"
        scores[f"temperature{suffix}"] = report.temperature
        scores[f"dev_calibration_error{suffix}"] = report.error
    return calibration.vocab, scores


def train_network(state: Run) -> Iterator[Report]:
    """Run the remaining phases; the network has the best weights at the end."""
    names = list(PLANS)
    for name in names[names.index(state.progress.phase) :]:
        if name != "label" or state.recipe.label.epochs:
            yield from _run_phase(state, name)


def start(recipe: Recipe, folder: Path, compute: Compute) -> Run:
    """Load the data and build the network, from the checkpoint in `folder` if there is one."""
    if recipe.train.calibrate and recipe.decode.weights == "probability":
        raise ConfigError(
            'train.calibrate would change trees with decode.weights = "probability"',
            "leave one of the two out",
        )
    device, group = compute.device, compute.group
    make_deterministic(device)
    checkpoint = load_checkpoint(folder)
    recipe, begun = open_start(recipe, folder, checkpoint)
    subwords = find_subwords(folder, recipe.model.encoder, group.leads, begun.subwords)
    with ThreadPoolExecutor(1) as background:
        background.submit(prepare, device)
        data = load_data(recipe.data, recipe.model, recipe.train, subwords, begun.known)
    data = add_replay(recipe, data, folder, begun.bundle, device, keep=group.leads)
    data, soft_targets = add_soft_targets(recipe, data, folder, device)
    fingerprint = data.fingerprint() + (soft_targets.key if soft_targets else "")
    network = build_network(
        recipe.model,
        data.vocab,
        recipe.train,
        recipe.label,
        device,
        data.vectors,
        data.word_vectors,
    )
    encoded = msgspec.json.encode(recipe)
    progress = msgspec.json.encode(checkpoint.progress) if checkpoint else b""
    # Processes on several machines may have been given different files.
    group.require_same(recipe=encoded, treebank=fingerprint.encode(), checkpoint=progress)
    taken = None
    if checkpoint is None:
        if network.encoder is not None and begun.subwords is None:
            set_weights(network.encoder, Path(recipe.model.encoder))
        if begun.bundle is not None:
            replays = recipe.start is not None and bool(recipe.start.replay)
            taken = _take_over(network, data, begun.bundle, replays)
        if group.leads:
            keep_start(begun, folder, trains_segmenter=recipe.segment is not None)
            keep_vocab(folder / VOCABULARY, data.vocab)
            with whole_file(folder / "recipe.json") as stream:
                stream.write(msgspec.json.format(encoded, indent=2) + b"\n")
        checkpoint = Checkpoint(
            Progress(recipe=encoded, data=fingerprint), network.state_dict(), {}, _copy(network), {}
        )
    else:
        require_same_run(folder, checkpoint.progress, recipe, fingerprint)
        network.load_state_dict(checkpoint.weights)
    kept = network
    if recipe.train.average:
        kept = copy.deepcopy(network)
        for part in kept.modules():
            if isinstance(part, nn.LSTM):
                part.flatten_parameters()
    if checkpoint.kept:
        kept.load_state_dict(checkpoint.kept)
    best = dict(checkpoint.best)
    progress_so_far = checkpoint.progress
    return Run(
        recipe, data, compute, folder, network, kept, best, progress_so_far, soft_targets, taken
    )


def _take_over(network: Network, data: Data, bundle: Bundle, replays: bool) -> TakenReport:
    """Copy the weights of a trained model as far as they fit."""
    trained = load_trained(bundle)
    skipped = set() if data.vectors is None else {"inputs.vector.weight"}
    own, known = data.vocab.subwords, bundle.vocab.subwords
    if own is None or known is None or own.tokenizer != known.tokenizer:
        skipped |= {name for name, _ in network.named_parameters() if name.startswith("encoder.")}
    fixed = None if data.word_vectors is None else data.word_vectors[1]
    n_replayed = len(data.drawn) if replays else 0
    taken = take_weights(network, data.vocab, trained, bundle.vocab, skipped, fixed)
    return TakenReport(str(bundle.path), *taken, n_replayed)


def _run_phase(state: Run, name: Phase) -> Iterator[Report]:
    if state.progress.phase != name:
        # SGD goes on from the best score of Adam; labels have a score of their own.
        best_score = state.progress.best_score if name == "sgd" else -1.0
        state.progress = msgspec.structs.replace(
            state.progress, phase=name, epoch=0, n_worse=0, best_score=best_score
        )
    if name == "label":
        state.kept = state.network  # only heads are averaged
    plan = PLANS[name](state)
    if state.progress.epoch:
        checkpoint = load_checkpoint(state.folder)
        assert checkpoint is not None
        restore_optimiser(plan.optimiser, checkpoint.optimiser)
    if plan.scores_start and not state.progress.epoch:
        las = plan.score().las
        assert las is not None
        state.best = _copy(state.kept)
        state.progress = msgspec.structs.replace(state.progress, best_score=las)
    if state.progress.epoch < plan.n_epochs:
        yield _begin(state, name)
    while state.progress.epoch < plan.n_epochs and state.progress.n_worse < plan.patience:
        started = monotonic()
        loss = 0.0
        for step in plan.train_epoch(state.progress.epoch + 1):
            loss = step.loss
            yield step
        yield _finish_epoch(state, plan, loss, started)
    state.network.load_state_dict(state.best)
    state.kept.load_state_dict(state.best)


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
    if state.compute.group.leads:
        if state.checkpoints.is_due():
            _save(state, optimiser_tensors(plan.optimiser))
        history = state.progress.history
        with whole_file(state.folder / "metrics.json") as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(history), indent=1) + b"\n")
        with whole_file(state.folder / "log.txt") as stream:
            stream.write("".join(f"{done.line()}\n" for done in history).encode())
    return report


def _save(state: Run, optimiser: dict[str, Tensor]) -> None:
    weights = state.network.state_dict()
    kept = {} if state.kept is state.network else state.kept.state_dict()
    checkpoint = Checkpoint(state.progress, weights, kept, state.best, optimiser)
    state.checkpoints.save(state.folder, checkpoint)


def _copy(network: Network) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}
