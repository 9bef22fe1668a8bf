"""Training learns from what is annotated, and needs no more than that."""

from pathlib import Path

import numpy as np
import pytest
import torch
from made_blanks import with_blanks, write
from made_runs import CPU, changed, history, trained

from headwise import read_sentences
from headwise.errors import DataError
from headwise.learn.data.treebanks import load_data
from headwise.learn.distil.teachers import add_soft_targets
from headwise.learn.fit.loop import collect_arcs
from headwise.learn.recipe import start, train_parser
from headwise.settings.recipe import Recipe
from headwise.settings.training import TeachConfig
from headwise.vocabulary.encode import NO_HEAD
from headwise.vocabulary.vocab import N_SPECIALS

COLUMNS = ("lemma", "upos", "xpos", "feats", "head", "deprel")


@pytest.fixture
def partial(tiny_treebank: Path, full_recipe: Recipe, tmp_path: Path) -> Recipe:
    """Half of all values are missing; all columns are predicted, and a segmenter is trained."""
    sentences = with_blanks(read_sentences(tiny_treebank), COLUMNS, 0.5)
    return changed(
        full_recipe,
        data={"train": write(tmp_path / "half.conllu", sentences)},
        model={"predicted_tags": ["upos", "xpos", "feats", "lemma"], "prior_size": 8},
        segment={"epochs": 1, "steps": 2},
    )


def test_half_of_a_treebank_is_learned_and_the_rest_inferred(
    partial: Recipe, tmp_path: Path
) -> None:
    state = trained(partial, tmp_path / "run")
    best = max(history(state), key=lambda report: report.dev_las or 0.0)
    assert best.dev_uas > 60  # half of the heads were seen; alone they would give about 50
    assert best.dev_las is not None
    assert best.dev_las > 35  # a quarter has both head and label
    assert min(best.dev_tags.values()) > 60


def test_a_run_on_blanks_gives_a_model(partial: Recipe, tmp_path: Path) -> None:
    recipe = changed(partial, train={"adam_epochs": 1})
    lines = [report.line() for report in train_parser(recipe, tmp_path / "run", CPU, {})]
    assert any("dev words" in line for line in lines)
    assert (tmp_path / "run" / "model" / "model.json").exists()


def test_gradients_come_from_annotated_words_only(partial: Recipe, tmp_path: Path) -> None:
    """Other values where the treebank is blank change nothing."""
    (tmp_path / "one").mkdir()
    state = start(partial, tmp_path / "one", CPU)
    arcs = collect_arcs(state.network, state.data.train, CPU.device)
    gold = state.data.train.gold
    n_known = sum(
        int(((one.heads[1:] != NO_HEAD) & (one.labels[1:] >= N_SPECIALS)).sum()) for one in gold
    )
    assert 0 < n_known < state.data.train.n_words / 2
    assert len(arcs.labels) == len(arcs.heads) == len(arcs.dependents) == n_known
    assert int(arcs.labels.min()) >= N_SPECIALS
    first = torch.tensor([len(one.heads) for one in gold]).cumsum(0)
    which = torch.bucketize(arcs.dependents, first, right=True)
    assert torch.equal(which, torch.bucketize(arcs.heads, first, right=True))


def test_teachers_fill_in_heads_and_leave_labels_of_unknown_arcs(
    partial: Recipe, full_run: Path, tmp_path: Path
) -> None:
    recipe = changed(partial, train={"adam_epochs": 1})
    recipe = changed(recipe, segment={"epochs": 1})
    taught = Recipe(
        data=recipe.data,
        model=recipe.model,
        train=recipe.train,
        label=recipe.label,
        teach=TeachConfig(models=(str(full_run),), weight=0.5),
        decode=recipe.decode,
    )
    data = load_data(taught.data, taught.model, taught.train)
    targets = add_soft_targets(taught, data, tmp_path, CPU.device)[1]
    assert targets is not None
    heads = np.concatenate([one.heads[1:] for one in data.train.gold])
    sums = targets.labels.float().sum(dim=1).numpy()
    assert (sums[heads == NO_HEAD] == 0).all()
    assert np.allclose(sums[heads != NO_HEAD], 1, atol=0.01)
    assert np.isclose(float(targets.heads.float().sum()), len(heads), rtol=0.01)
    assert history(trained(taught, tmp_path / "run"))[0].loss > 0


@pytest.mark.parametrize(("column", "name"), [("head", "HEAD"), ("deprel", "DEPREL")])
def test_dev_must_be_whole(
    column: str, name: str, tiny_treebank: Path, full_recipe: Recipe, tmp_path: Path
) -> None:
    one = next(iter(read_sentences(tiny_treebank)))
    words = [word._replace(**{column: "_"}) if word.id == "2" else word for word in one.words]
    path = write(tmp_path / "dev.conllu", [one, one.with_words(words)])
    recipe = changed(full_recipe, data={"dev": path})
    line = len(one.lines) + one.line_of(2) - one.first_line + 1
    with pytest.raises(DataError, match=rf"dev.conllu:{line}: word 2 .* has no {name}"):
        load_data(recipe.data, recipe.model, recipe.train)


def test_dev_without_some_tags_is_scored_on_the_others(
    tiny_treebank: Path, full_recipe: Recipe, tmp_path: Path
) -> None:
    sentences = with_blanks(read_sentences(tiny_treebank), ("upos", "xpos"), 0.9)
    recipe = changed(
        full_recipe,
        data={"dev": write(tmp_path / "dev.conllu", sentences)},
        train={"adam_epochs": 8},
    )
    best = history(trained(recipe, tmp_path / "run"))[-1]
    assert min(best.dev_tags.values()) > 50  # 10% of the words have a tag
