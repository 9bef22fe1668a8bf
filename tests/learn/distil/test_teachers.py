"""A student learns from the mean of its teachers, which is computed once."""

from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from made_runs import CPU, changed

import headwise
from headwise.errors import ConfigError, DataError, ModelError
from headwise.learn.data.on_device import put_on_device
from headwise.learn.data.treebanks import load_data
from headwise.learn.distil.soft_targets import SoftTargets
from headwise.learn.distil.teachers import SOFT_TARGETS, Teachers, add_soft_targets, tempered
from headwise.learn.fit.loss import batch_loss
from headwise.learn.fit.reports import EpochReport
from headwise.learn.recipe import start, train_network
from headwise.model.bundle import slim
from headwise.settings.recipe import Recipe
from headwise.settings.training import TeachConfig
from headwise.vocabulary.encode import encode_gold
from headwise.vocabulary.vocab import N_SPECIALS, PAD


@pytest.fixture(scope="module")
def student(full_recipe: Recipe, full_run: Path, marked_run: Path) -> Recipe:
    """Learns from the teachers alone, and without anything that is drawn."""
    return msgspec.structs.replace(
        full_recipe,
        teach=TeachConfig(models=(str(full_run), str(marked_run)), weight=1.0),
        train=msgspec.structs.replace(full_recipe.train, adam_epochs=4, seed=9),
        segment=None,
    )


def taught(recipe: Recipe, **teach: object) -> Recipe:
    return changed(recipe, teach=dict(teach))


def targets_of(recipe: Recipe, folder: Path, **limits: int) -> SoftTargets:
    data = load_data(recipe.data, recipe.model, recipe.train)
    targets = add_soft_targets(recipe, data, folder, CPU.device, **limits)[1]
    assert targets is not None
    return targets


def test_targets_are_the_mean_of_the_teachers(student: Recipe, tmp_path: Path) -> None:
    temperature = 3.0
    assert student.teach is not None
    targets = targets_of(taught(student, temperature=temperature), tmp_path)
    data = load_data(student.data, student.model, student.train)
    teachers = headwise.load(student.teach.models, precision="float32")
    number = 3
    sentence, gold = data.sentences[number], data.train.gold[number]
    (selection,) = teachers.scorer.select([sentence])
    (labels,) = teachers.scorer.label([selection], [gold.heads])
    batch = targets.batch(torch.tensor([number]), len(sentence) + 1)
    assert batch.heads is not None
    heads = tempered(selection.head_log_probs[1:], temperature)
    np.testing.assert_allclose(batch.heads[0, 1:].numpy(), heads, atol=2e-3)
    assert batch.labels is not None
    names = [data.vocab.labels.strings.index(name) for name in teachers.vocab.labels.strings]
    named = tempered(labels, temperature)
    np.testing.assert_allclose(batch.labels[0, 1:].numpy()[:, names], named, atol=2e-3)
    for column in (0, 1):
        tags = batch.tag(column)
        assert tags is not None
        torch.testing.assert_close(tags[0, 1:].sum(1), torch.ones(len(sentence)), atol=5e-3, rtol=0)


def test_a_column_that_no_teacher_predicts_is_not_taught(
    student: Recipe, marked_run: Path, tmp_path: Path
) -> None:
    targets = targets_of(taught(student, models=(str(marked_run),)), tmp_path)
    batch = targets.batch(torch.tensor([0]), 4)
    assert batch.tag(0) is not None
    assert batch.tag(1) is None


def test_a_student_learns_from_teachers_alone_who_are_asked_once(
    student: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    longer = changed(student, train={"adam_epochs": 25})
    interrupted = start(longer, tmp_path, CPU)
    assert len(list(islice(train_network(interrupted), 3))) == 3
    monkeypatch.setattr(Teachers, "parser", None)
    state = start(longer, tmp_path, CPU)
    assert state.progress.epoch == 1
    assert state.soft_targets is not None
    assert interrupted.soft_targets is not None
    assert torch.equal(state.soft_targets.labels, interrupted.soft_targets.labels)
    last = [report for report in train_network(state) if isinstance(report, EpochReport)][-1]
    assert last.dev_las is not None
    assert last.dev_uas > 70
    assert last.dev_las > 50
    assert last.dev_tags["upos"] > 80


def test_a_batch_may_be_rounded_up_beyond_the_longest_sentence(
    student: Recipe, tmp_path: Path
) -> None:
    state = start(taught(student, weight=0.5), tmp_path, CPU)
    treebank = put_on_device(state.data.train, CPU.device)
    longest = max(treebank.sizes)
    chosen = torch.tensor([treebank.sizes.index(longest), 0])
    state.network.eval()
    with torch.inference_mode():
        exact, rounded = (
            batch_loss(state.network, treebank, CPU, chosen, n, True, 1.0, state.soft_targets)
            for n in (longest, longest + 3)
        )
    assert exact == rounded


def test_other_teachers_are_another_run(student: Recipe, full_run: Path, tmp_path: Path) -> None:
    """The recipe may be the same and the model behind a name another."""
    list(islice(train_network(start(student, tmp_path, CPU)), 3))
    key = Teachers.__init__
    targets_before = (tmp_path / SOFT_TARGETS).read_bytes()

    def other(self: Teachers, *given: Any, **named: Any) -> None:
        key(self, *given, **named)
        self.key = "another"

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Teachers, "__init__", other)
        with pytest.raises(ConfigError, match="another treebank or teacher"):
            start(student, tmp_path, CPU)
    assert (tmp_path / SOFT_TARGETS).read_bytes() != targets_before


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory, ewt_sentences: list[headwise.Sentence]) -> Path:
    """Words with tags and features, and no trees."""
    path = tmp_path_factory.mktemp("text") / "words.conllu"
    lines = []
    for sentence in ewt_sentences[50:60]:
        for word in sentence.words:
            columns = word._replace(head="_", deprel="_", deps="_", upos="_")
            lines.append("\t".join(columns) + "\n")
        lines.append("\n")
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_text_is_learned_from_with_the_teachers_trees(
    student: Recipe, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = taught(student, text=(str(text),))
    data = load_data(recipe.data, recipe.model, recipe.train)
    more, targets = add_soft_targets(recipe, data, tmp_path, CPU.device)
    assert len(more.train.encoded) == len(more.sentences) == 50
    assert targets is not None
    assert len(targets.lengths) == 50
    (kept,) = tmp_path.glob("taught-*.conllu")
    trees = list(headwise.read_sentences(kept))
    assert all(word.upos != "_" for tree in trees for word in tree.words)
    monkeypatch.setattr(Teachers, "parser", None)
    again, same = add_soft_targets(recipe, data, tmp_path, CPU.device)
    assert again.fingerprint() == more.fingerprint() != data.fingerprint()
    assert same is not None
    assert same.key == targets.key
    assert torch.equal(same.heads, targets.heads)


@pytest.fixture(scope="module")
def columns_student(columns_recipe: Recipe, columns_run: Path) -> Recipe:
    return msgspec.structs.replace(
        columns_recipe,
        teach=TeachConfig(models=(str(columns_run),), weight=0.5),
        train=msgspec.structs.replace(columns_recipe.train, adam_epochs=2, seed=9),
        segment=None,
    )


def test_features_and_lemmas_are_learned_from_gold(columns_student: Recipe, tmp_path: Path) -> None:
    state = start(columns_student, tmp_path, CPU)
    assert list(state.data.vocab.outputs) == ["upos", "xpos", "feats", "lemma"]
    assert state.soft_targets is not None
    batch = state.soft_targets.batch(torch.tensor([0, 1]), 9)
    assert [batch.tag(i) is None for i in range(4)] == [False, False, True, True]
    before = [one.clone() for one in state.network.tag.last["lemma"].parameters()]
    reports = [r for r in train_network(state) if isinstance(r, EpochReport)]
    assert set(reports[-1].dev_tags) == {"upos", "xpos", "feats", "lemma"}
    after = list(state.network.tag.last["lemma"].parameters())
    assert not any(map(torch.equal, before, after))


def test_text_is_learned_from_with_the_teachers_features_and_lemmas(
    columns_student: Recipe, text: Path, tmp_path: Path
) -> None:
    recipe = taught(columns_student, text=(str(text),))
    data = load_data(recipe.data, recipe.model, recipe.train)
    more, _ = add_soft_targets(recipe, data, tmp_path, CPU.device)
    (kept,) = tmp_path.glob("taught-*.conllu")
    trees = list(headwise.read_sentences(kept))
    given = list(headwise.read_sentences(text))
    assert [w.form for s in trees for w in s.words] == [w.form for s in given for w in s.words]
    (teacher,) = recipe.teach.models if recipe.teach else ()
    written = headwise.load(teacher, precision="float32").parse(given)
    same = [
        (word.feats, word.lemma) == pair
        for tree, parse in zip(trees, written, strict=True)
        for word, pair in zip(tree.words, zip(parse.feats, parse.lemmas, strict=True), strict=True)
    ]
    assert np.mean(same) > 0.99
    assert any(word.feats != "_" for tree in trees for word in tree.words)
    for tree, gold in zip(trees, more.train.gold[len(data.train.gold) :], strict=True):
        exact = encode_gold(tree, data.vocab)
        assert [tags.tolist() for tags in gold.tags] == [tags.tolist() for tags in exact.tags]


def test_text_of_teachers_without_features_says_nothing_of_them(
    columns_student: Recipe, full_run: Path, text: Path, tmp_path: Path
) -> None:
    words = [(w.form,) for s in headwise.read_sentences(text) for w in s.words][:9]
    plain = tmp_path / "plain.conllu"
    plain.write_text(headwise.sentence_from_words(words, ["form"]).conllu, encoding="utf-8")
    recipe = taught(columns_student, text=(str(plain),), models=(str(full_run),))
    data = load_data(recipe.data, recipe.model, recipe.train)
    more, _ = add_soft_targets(recipe, data, tmp_path, CPU.device)
    upos, _, feats, rules = more.train.gold[-1].tags
    assert (upos[1:] >= N_SPECIALS).all()
    assert (feats[1:] == PAD).all()
    assert (rules[1:] == PAD).all()


def test_what_cannot_teach_is_refused(student: Recipe, full_run: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.conllu").write_text("# nothing\n\n")
    with pytest.raises(DataError, match="no sentence of at most 100 words"):
        targets_of(taught(student, text=(str(tmp_path / "empty.conllu"),)), tmp_path)
    slim(full_run / "model", tmp_path / "slim", "int8")
    with pytest.raises(ModelError, match=r"a teacher needs its weights.safetensors"):
        targets_of(taught(student, models=(str(tmp_path / "slim"),)), tmp_path)
    message = r"take 0.0 GiB; the limit is 0 GiB\nhint: use fewer files"
    with pytest.raises(ConfigError, match=message):
        targets_of(student, tmp_path, max_bytes=1000)


def test_a_damaged_file_is_refused_and_one_of_others_is_made_again(
    student: Recipe, tmp_path: Path
) -> None:
    before = targets_of(student, tmp_path)
    other = targets_of(taught(student, temperature=2.0), tmp_path)
    assert before.key != other.key
    (tmp_path / SOFT_TARGETS).write_bytes(b"nonsense")
    with pytest.raises(ModelError, match="not a file of soft targets"):
        targets_of(student, tmp_path)
    import safetensors.torch

    small = {name: torch.zeros(1).half() for name in ("heads", "labels", "upos", "xpos")}
    (tmp_path / SOFT_TARGETS).write_bytes(safetensors.torch.save(small, {"key": before.key}))
    with pytest.raises(ModelError, match="its arrays do not fit the treebank"):
        targets_of(student, tmp_path)
