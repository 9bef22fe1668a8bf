"""`headwise parse` with several models, and with a model of several treebanks."""

from pathlib import Path

from invoked import headwise as command

import headwise

SAMPLE = Path(__file__).parent.parent / "fixtures" / "ewt-dev-100.conllu"


def test_several_models_are_an_ensemble(full_run: Path, marked_run: Path) -> None:
    done = command("parse", "--quiet", "-m", full_run, "-m", marked_run, SAMPLE)
    assert done.returncode == 0, done.stderr
    sentences = list(headwise.read_sentences(SAMPLE))
    parses = headwise.load([full_run, marked_run]).parse(sentences)
    expected = "".join(s.with_parse(p).conllu for s, p in zip(sentences, parses, strict=True))
    assert done.stdout.decode() == expected
    alone = headwise.load(full_run).parse(sentences)
    assert [p.heads for p in parses] != [p.heads for p in alone]


def test_a_model_that_reads_marks_says_which(full_run: Path, marked_run: Path) -> None:
    refused = command("parse", "-m", full_run, "-m", marked_run, "Kids love candy.")
    assert refused.returncode == 1
    assert b"this model reads the columns XPOS, FEATS, and text has no tags" in refused.stderr
    kept = command("parse", "--no-keep-tags", "-m", full_run, "-m", marked_run, SAMPLE)
    assert (
        f"--no-keep-tags: model {marked_run} reads the columns XPOS, FEATS" in kept.stderr.decode()
    )
    told = command("info", marked_run).stdout.decode()
    rows = dict(line.split("  ", 1) for line in told.splitlines())
    assert rows["reads tags"].strip() == "XPOS, FEATS"
    assert rows["treebanks"].strip() == "first, second"
    assert "dev_las second" in rows


def test_a_treebank_is_chosen_by_name(marked_run: Path) -> None:
    main, first, second = (
        command("parse", "--quiet", "-m", marked_run, *chosen, SAMPLE)
        for chosen in ([], ["--treebank", "first"], ["--treebank", "second"])
    )
    assert main.returncode == 0, main.stderr
    assert main.stdout == first.stdout != second.stdout
    refused = command("parse", "-m", marked_run, "--treebank", "third", SAMPLE)
    assert refused.returncode == 1
    assert refused.stderr == (
        b"headwise: no treebank third in this model\nhint: it knows first, second\n"
    )
