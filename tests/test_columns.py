"""A model that predicts every column, and where its values go: all outputs say the same."""

import json
import math
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from invoked import headwise as run_headwise
from msgspec.structs import replace

import headwise
from headwise import Parse, Sentence
from headwise.runtime.parser import Parser
from headwise.serve.models import Models, load_models
from headwise.settings.serving import ServeConfig
from tests.serve.made_servers import serving

TEXT = "The kids love candy."
COLUMNS = ("lemma", "upos", "xpos", "feats")


@pytest.fixture(scope="module")
def parser(columns_run: Path) -> Parser:
    return headwise.load(columns_run)


@pytest.fixture(scope="module")
def annotated(parser: Parser) -> tuple[Sentence, Parse]:
    ((sentence, parse),) = parser.annotate_text(TEXT)
    return sentence, parse


def test_sentences_have_every_column(annotated: tuple[Sentence, Parse]) -> None:
    sentence, parse = annotated
    assert set(parse.column_probs) == {*COLUMNS, "labels"}
    for probs in parse.column_probs.values():
        assert len(probs) == len(sentence)
        assert all(0 <= prob <= 1 for prob in probs)
    values = [parse.lemmas, parse.upos, parse.xpos, parse.feats]
    for column, of_parse in zip(COLUMNS, values, strict=True):
        assert tuple(getattr(word, column) for word in sentence.words) == of_parse
    assert any(feats != "_" for feats in parse.feats)
    assert "_" not in parse.lemmas


def test_json_and_misc_have_all_probabilities(
    columns_run: Path, annotated: tuple[Sentence, Parse]
) -> None:
    _, parse = annotated
    record = json.loads(run_headwise("parse", "-m", columns_run, "--format", "json", TEXT).stdout)
    keys = {"lemma": "lemma", "upos": "upos", "xpos": "xpos", "feats": "feats", "labels": "deprel"}
    for column, key in keys.items():
        shown = [word["probabilities"][key] for word in record["words"]]
        assert shown == [round(prob, 4) for prob in parse.column_probs[column]]  # type: ignore[index]
    assert [word["lemma"] for word in record["words"]] == list(parse.lemmas)
    done = run_headwise("parse", "-m", columns_run, "--probabilities", TEXT).stdout.decode()
    first = next(line for line in done.splitlines() if line.startswith("1\t"))
    misc = first.split("\t")[9].split("|")
    assert [part.split("=")[0] for part in misc] == [
        *("FeatsProb", "HeadProb", "LabelProb", "LemmaProb", "TokenRange", "UposProb", "XposProb")
    ]
    assert f"LemmaProb={parse.column_probs['lemma'][0]:.4f}" in misc


@pytest.mark.parametrize("column", COLUMNS)
def test_each_column_can_be_kept(
    column: str, columns_run: Path, annotated: tuple[Sentence, Parse]
) -> None:
    sentence, _ = annotated
    words = [sentence.words[0]._replace(**{column: "A=B"}), *sentence.words[1:]]
    words[1] = words[1]._replace(**{column: "_"})
    given = sentence.with_words(words)
    keep = headwise.load(columns_run, keep=column)
    ((kept, kept_parse),) = keep.annotate([given])
    assert isinstance(kept, Sentence)
    assert kept_parse
    assert getattr(kept.words[0], column) == "A=B"
    assert math.isnan(kept_parse.column_probs[column][0])  # type: ignore[index]
    if column == "feats":  # a blank beside features means: no features
        assert kept.words[1].feats == "_"
    else:
        assert getattr(kept.words[1], column) != "_"
    ((replaced, _),) = headwise.load(columns_run).annotate([given])
    assert getattr(replaced.words[0], column) != "A=B"  # type: ignore[union-attr]


def test_a_table_of_lemmas_wins_over_the_model(parser: Parser) -> None:
    other = parser.with_settings(replace(parser.settings, lemmas={"kids": {"_": "KID"}}))
    ((sentence, parse),) = other.annotate_text(TEXT)
    assert sentence.words[1].lemma == "KID"
    assert math.isnan(parse.column_probs["lemma"][1])
    assert not math.isnan(parse.column_probs["lemma"][0])


def test_shards_have_every_column(
    columns_run: Path, tmp_path: Path, annotated: tuple[Sentence, Parse]
) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    flags = ["--workers", 0, "--format", "parquet", "--probabilities", "-o", tmp_path / "out"]
    assert run_headwise("corpus", tmp_path / "a.txt", "-m", columns_run, *flags).returncode == 0
    (row,) = pq.read_table(tmp_path / "out" / "shard-00000000.parquet").to_pylist()
    _, parse = annotated
    assert row["lemmas"] == list(parse.lemmas)
    assert row["feats"] == [None if feats == "_" else feats for feats in parse.feats]
    assert row["lemma_probabilities"] == pytest.approx(parse.column_probs["lemma"])
    assert row["feats_probabilities"] == pytest.approx(parse.column_probs["feats"])


def test_the_server_has_every_column(
    columns_run: Path, tmp_path: Path, annotated: tuple[Sentence, Parse]
) -> None:
    _, parse = annotated
    (tmp_path / "lemmas.tsv").write_text("candy\tX\tno\ncandy\t_\tsweets\n")
    models = Models(
        {
            "plain": load_models([f"a={columns_run}"]).parsers["a"],
            "set": load_models([f"a={columns_run}"], str(tmp_path / "lemmas.tsv")).parsers["a"],
        }
    )
    assert models.components()["plain"] == ["tokenizer", "tagger", "parser"]
    with serving(ServeConfig(), models) as client:
        tagged, parsed = (
            client.post("/process", data={"tokenizer": "", "data": TEXT, task: ""}).json()["result"]
            for task in ("tagger", "parser")
        )
        body = {"text": TEXT, "model": "set", "pictures": True}
        (record,) = client.post("/parse", json=body).json()["sentences"]
    tagged_rows, parsed_rows = (
        [line.split("\t") for line in text.splitlines() if line[:1].isdigit()]
        for text in (tagged, parsed)
    )
    assert [row[2] for row in tagged_rows] == list(parse.lemmas)
    assert [row[5] for row in tagged_rows] == list(parse.feats)
    assert {row[6] for row in tagged_rows} == {"_"}
    assert {(*row[2:6],) for row in parsed_rows} == {("_",) * 4}
    assert [row[7] for row in parsed_rows] == list(parse.labels)
    assert record["words"][3]["lemma"] == "sweets"
    assert "lemma" not in record["words"][3]["probabilities"]
    assert ">sweets</text>" in record["picture"]["svg"]


def test_info_lists_the_columns(columns_run: Path) -> None:
    rows = run_headwise("info", columns_run).stdout.decode().splitlines()
    assert "UPOS, XPOS, FEATS, LEMMA, HEAD, DEPREL" in next(r for r in rows if r[:8] == "fills in")
