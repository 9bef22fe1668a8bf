"""A real spaCy pipeline with the built-in model, and the snippets of docs/spacy.md."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from io import StringIO
from multiprocessing.reduction import ForkingPickler
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import spacy
from click.testing import CliRunner
from spacy.language import Language
from spacy.tokens import Doc, DocBin

import headwise
from headwise import ConfigError, DataError, ModelError, Sentence, read_sentences
from headwise.cli.main import main
from headwise.integrations.spacy import ParserComponent, Settings, Tokenizer
from headwise.treebank.sentence import sentence_from_tokens

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "spacy.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```\n(?:\n```\n(.*?)```\n)?", PAGE, re.DOTALL)
"""The Python on the page, each with the output shown below it, or an empty string."""
TEXTS = [
    *("", " ", "Kids", "Kids love candy. So do I!", "\n\nOne.  Two?\n", "😀 \x00 caf\u0065\u0301."),
    "I can't say\n\nwhy Mr. Smith did that; nor could you, e.g. if you're in the U.S. today.",
]
OURS = {"nlp": {"tokenizer": {"@tokenizers": "headwise.Tokenizer.v1", "model": "en"}}}


def pipeline(**config: object) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("headwise", config=config)
    return nlp


@pytest.fixture(scope="module")
def nlp() -> Language:
    return pipeline()


@pytest.fixture(scope="module")
def real_texts(ewt_sentences: list[Sentence]) -> list[str]:
    return [sentence.text for sentence in ewt_sentences]


def annotation(doc: Doc) -> list[tuple[object, ...]]:
    values = attrgetter(
        *("text", "whitespace_", "head.i", "dep_", "pos_", "tag_", "is_sent_start"),
        "_.head_probability",
    )
    return list(map(values, doc))


def test_heads_labels_and_tags_are_those_of_the_command_line(
    nlp: Language, real_texts: list[str], tmp_path: Path
) -> None:
    docs = []
    for made in map(nlp.make_doc, real_texts):
        words = [token.text for token in made if not token.is_space]
        docs.append(Doc(nlp.vocab, words=words, sent_starts=[i == 0 for i in range(len(words))]))
    lines = [" ".join(token.text for token in doc) for doc in docs]
    command = ["parse", "--input", "tokens", "-o", str(tmp_path / "out.conllu"), "--quiet"]
    CliRunner().invoke(main, command, input="\n".join(lines), catch_exceptions=False)
    parsed = list(read_sentences(tmp_path / "out.conllu"))
    assert len(parsed) == len(docs) == 100
    for doc, sentence in zip(nlp.pipe(docs), parsed, strict=True):
        ours = [(t.text, t.pos_, t.tag_, t.dep_) for t in doc]
        assert ours == [(w.form, w.upos, w.xpos, w.deprel) for w in sentence.words]
        heads = [0 if token.head == token else token.head.i + 1 for token in doc]
        assert heads == [int(word.head) for word in sentence.words]


def test_our_tokens_are_those_of_the_parser(real_texts: list[str]) -> None:
    nlp = spacy.blank("en", config=OURS)
    nlp.add_pipe("headwise")
    text = "\n\n".join(real_texts)
    doc = nlp(text)
    assert doc.text == text
    words = [token for token in doc if not token.is_space]
    found = list(headwise.load().annotate_text(text))
    expected = [(w.form, w.upos, w.xpos, w.deprel) for sentence, _ in found for w in sentence.words]
    assert [(t.text, t.pos_, t.tag_, t.dep_) for t in words] == expected
    assert len(list(doc.sents)) == len(found)
    probabilities = [np.exp(p) for _, parse in found for p in parse.head_log_probs]
    assert [t._.head_probability for t in words] == pytest.approx(probabilities)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("config", [{}, OURS], ids=["their tokens", "our tokens"])
def test_batches_and_threads_change_nothing(
    threads: int, config: dict[str, object], real_texts: list[str]
) -> None:
    nlp = spacy.blank("en", config=config)
    nlp.add_pipe("headwise", config={"threads": threads, "distributions": threads > 1})
    texts = [*TEXTS, *real_texts[:12]]
    one_by_one = [nlp(text) for text in texts]
    assert [doc.text for doc in one_by_one] == texts
    expected = list(map(annotation, one_by_one))
    for batch_size in (7, 1000):
        assert list(map(annotation, nlp.pipe(texts, batch_size=batch_size))) == expected
    with ThreadPoolExecutor(4) as pool:
        assert list(map(annotation, pool.map(nlp, texts))) == expected


@pytest.mark.parametrize("text", TEXTS)
def test_every_sentence_is_one_tree(nlp: Language, text: str) -> None:
    doc = nlp(text)
    assert doc.text == text
    for sentence in doc.sents:
        roots = [token for token in sentence if token.head == token]
        assert roots == [sentence.root]
        assert set(sentence.root.subtree) == set(sentence)
    assert doc.has_annotation("DEP", require_complete=True)


def test_sentences_of_other_components_may_be_kept() -> None:
    for keep, n_sentences in ((True, 3), (False, 2)):
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer", config={"punct_chars": [",", "."]})
        nlp.add_pipe("headwise", config={"keep_sentences": keep})
        doc = nlp("When kids come, they eat. So do I")
        assert len(list(doc.sents)) == n_sentences


def test_tags_of_other_components_may_be_kept(nlp: Language) -> None:
    doc = Doc(nlp.vocab, words=["Kids", "love"], pos=["X", ""], tags=["", "Y"])
    for keep in ({"keep_tags": True}, {"keep": ["upos", "xpos"]}, {"keep": "upos,xpos"}):
        component = pipeline(**keep).get_pipe("headwise")
        assert component.settings.keep == ("upos", "xpos")
        kept = component(doc.copy())
        assert [(token.pos_, token.tag_) for token in kept] == [("X", "NNS"), ("VERB", "Y")]
    only_upos = pipeline(keep="upos").get_pipe("headwise")(doc.copy())
    assert [(token.pos_, token.tag_) for token in only_upos] == [("X", "NNS"), ("VERB", "VBP")]
    nlp.get_pipe("headwise")(doc)
    assert [(token.pos_, token.tag_) for token in doc] == [("NOUN", "NNS"), ("VERB", "VBP")]


def test_heads_and_labels_of_other_components_may_be_kept(nlp: Language) -> None:
    words = ["I", "saw", "the", "man", "with", "the", "telescope", "."]
    doc = nlp.get_pipe("headwise")(Doc(nlp.vocab, words=words))
    assert (doc[6].head.text, doc[6].dep_) == ("saw", "obl")
    heads, labels = [token.head.i for token in doc], [token.dep_ for token in doc]
    heads[6], labels[6] = 3, "nmod:with"
    other = Doc(nlp.vocab, words=words, heads=heads, deps=labels)
    kept = pipeline(keep="heads,labels").get_pipe("headwise")(other)
    assert [token.head.i for token in kept] == heads
    assert [token.dep_ for token in kept] == labels


def test_heads_may_be_given_for_some_words_only(nlp: Language) -> None:
    words = ["I", "saw", "the", "man", "with", "the", "telescope", "."]
    labels = [""] * 6 + ["nmod", ""]  # a head without a label is none
    doc = Doc(nlp.vocab, words=words, heads=[0, 1, 2, 3, 4, 5, 3, 7], deps=labels)
    kept = pipeline(keep="heads").get_pipe("headwise")(doc)
    assert [token.head.i for token in kept] == [1, 1, 3, 1, 6, 6, 3, 1]


CONSTRAINTS = {"heads": {8: 5}, "labels": {8: "nmod"}, "forbidden": [(9, 5)], "subtrees": [(4, 5)]}


@pytest.mark.parametrize("distributions", [False, True])
def test_a_document_may_bring_constraints(nlp: Language, distributions: bool) -> None:
    text = "\nI saw the man with the telescope. Kids love candy."
    free = nlp(text)
    component = pipeline(distributions=distributions).get_pipe("headwise")
    doc = nlp.make_doc(text)
    doc._.constraints = CONSTRAINTS | {"root": 3}
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    for given in (component(doc), component(again)):
        assert (given[7].head.text, given[7].dep_) == ("man", "nmod")
        rest = [token.i for token in free if token.i != 7]
        assert [given[i].head.i for i in rest] == [free[i].head.i for i in rest]
    assert free[7].head.text == "saw"
    doc = nlp.make_doc(text)
    doc._.constraints = headwise.Constraints(root=12)
    assert [sentence.root.i for sentence in component(doc).sents] == [2, 11]


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ({"heads": {8: 11}}, "tokens 8 and 11 are not in one sentence"),
        ({"subtrees": [[8, 11]]}, "tokens 8 and 11 are not in one sentence"),
        ({"labels": {70: "obj"}}, "token 70 does not exist"),
        ({"root": 1}, "token 1 is white space"),
        ({"head": {}}, "unknown field `head`"),
        ({"heads": {2: 3, 3: 2}}, "words 2 and 3 cannot head each other"),
    ],
)
def test_constraints_that_cannot_be_are_refused(
    nlp: Language, constraints: dict[str, object], message: str
) -> None:
    doc = nlp.make_doc("\nI saw the man with the telescope. Kids love candy.")
    doc._.constraints = constraints
    with pytest.raises(ConfigError, match=message):
        nlp.get_pipe("headwise")(doc)


def test_distributions_sum_to_one_and_hold_the_chosen_arc() -> None:
    doc = pipeline(distributions=True)("Kids love candy.  So do\nI!")
    assert [matrix.shape for matrix in doc._.head_distributions] == [(5, 6), (5, 6)]
    for sentence, matrix in zip(doc.sents, doc._.head_distributions, strict=True):
        for token, row in zip(sentence, matrix, strict=True):
            chosen = row[0 if token.head == token else 1 + token.head.i - sentence.start]
            assert row.sum() == pytest.approx(0.0 if token.is_space else 1.0, abs=1e-5)
            assert token.is_space or chosen == pytest.approx(token._.head_probability, abs=1e-6)


def test_documents_are_stored_with_their_probabilities(nlp: Language) -> None:
    doc = nlp("Kids love candy.")
    stored = DocBin(docs=[doc], store_user_data=True).to_bytes()
    (again,) = DocBin().from_bytes(stored).get_docs(nlp.vocab)
    assert annotation(again) == annotation(doc)
    part = nlp("So do I! Kids love candy.")[4:].as_doc(copy_user_data=True)
    assert part[0]._.head_probability == doc[0]._.head_probability


@pytest.mark.parametrize("config", [{}, OURS], ids=["their tokens", "our tokens"])
def test_a_copied_pipeline_does_the_same(config: dict[str, object], tmp_path: Path) -> None:
    nlp = spacy.blank("en", config=config)
    nlp.add_pipe("headwise", config={"threads": 2})
    nlp.to_disk(tmp_path / "saved")
    saved = spacy.load(tmp_path / "saved")
    assert saved.get_pipe("headwise").settings == Settings(threads=2)
    pickled = ForkingPickler.loads(ForkingPickler.dumps(nlp))
    for copied in (saved, saved.from_bytes(nlp.to_bytes()), pickled):
        assert annotation(copied(TEXTS[-1])) == annotation(nlp(TEXTS[-1]))


def test_the_error_handler_of_the_pipeline_gets_a_document_that_cannot_be_parsed() -> None:
    nlp = pipeline()
    long = Doc(nlp.vocab, words=["a"] * 10_001, sent_starts=[True] + [False] * 10_000)
    docs = [nlp.make_doc("Kids love candy."), long, nlp.make_doc("So do I!")]
    with pytest.raises(DataError, match="a sentence has 10,001 words; the limit is 10,000"):
        list(nlp.pipe(docs))
    failed = []
    nlp.set_error_handler(lambda name, proc, docs, error: failed.append((name, docs[0])))
    assert nlp.get_pipe("headwise").get_error_handler() is not None
    parsed = list(nlp.pipe(docs))
    assert parsed == [docs[0], docs[2]]
    assert all(doc.has_annotation("DEP") for doc in parsed)
    assert failed == [("headwise", long)]


def test_settings_are_documented_and_checked() -> None:
    assert all(f"| `{name}` |" in PAGE for name in Settings.__slots__)
    with pytest.raises(ConfigError, match="threads is 0"):
        pipeline(threads=0)
    with pytest.raises(ModelError, match="nowhere"):
        pipeline(model="nowhere")
    with pytest.raises(ConfigError, match="no column 'colour'"):
        pipeline(keep=["colour"])
    with pytest.raises(ValueError, match="tempo"):
        pipeline(tempo="allegro")


def test_a_model_that_reads_tags_and_finds_no_words(tiny_run: Path) -> None:
    nlp = spacy.blank("en")
    model = str(tiny_run / "model")
    with pytest.raises(ModelError, match="cannot find words"):
        Tokenizer(nlp.vocab, model)
    component = ParserComponent("headwise", Settings(model=model))
    assert component.parser.settings.decode.single_root
    with pytest.raises(ModelError, match="sentencizer"):
        component(nlp("Kids love candy."))
    words, starts, tags = ["So", "do", "I"], [True, False, False], ["RB", "VBP", "PRP"]
    with pytest.raises(DataError, match="XPOS"):
        component(Doc(nlp.vocab, words=words, sent_starts=starts))
    tagged = component(Doc(nlp.vocab, words=words, sent_starts=starts, tags=tags))
    assert tagged.has_annotation("DEP")
    assert [token.tag_ for token in tagged] == tags
    assert not tagged.has_annotation("POS")


def test_the_parser_reads_the_words_of_a_token_that_expands(nlp: Language) -> None:
    texts = Doc(nlp.vocab, words=["I", "ca", "n't"], sent_starts=[True, False, False])
    plain = Doc(nlp.vocab, words=["I", "can", "not"], sent_starts=[True, False, False])
    forms = texts.copy()
    forms[1]._.word_form, forms[2]._.word_form = "can", "not"
    texts_found, forms_found, plain_found = (
        [token._.head_probability for token in nlp.get_pipe("headwise")(doc)]
        for doc in (texts, forms, plain)
    )
    assert forms_found == plain_found != texts_found


def test_a_token_that_expands_becomes_several(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = Tokenizer(spacy.blank("de").vocab)
    rows = [
        ("Zum", "TokenRange=0:3", (("Zu", "_"), ("dem", "_"))),
        ("Markt", "SpaceAfter=No|TokenRange=4:9", ()),
    ]
    found = SimpleNamespace(segment=lambda text: [sentence_from_tokens(rows)])
    monkeypatch.setattr(tokenizer, "_segmenter", found)
    doc = tokenizer("Zum Markt")
    assert doc.text == "Zum Markt"
    found = [(token.text, token._.word_form) for token in doc]
    assert found == [("Zu", "Zu"), ("m", "dem"), ("Markt", None)]


def test_a_pipeline_for_another_language_is_noticed() -> None:
    with pytest.warns(UserWarning, match="is for German, and the model en is for English"):
        spacy.blank("de").add_pipe("headwise")
    for language in ("en", "xx"):
        spacy.blank(language).add_pipe("headwise")  # warnings are errors


def test_the_tokenizer_gives_a_document_for_each_text() -> None:
    docs = list(Tokenizer(spacy.blank("en").vocab).pipe(iter(TEXTS), batch_size=2))
    assert [doc.text for doc in docs] == TEXTS
    assert [sentence.text for sentence in docs[3].sents] == ["Kids love candy.", "So do I!"]


@pytest.mark.parametrize(("code", "shown"), SNIPPETS)
def test_the_page_shows_what_happens(code: str, shown: str) -> None:
    with redirect_stdout(StringIO()) as printed:
        exec(code, {})
    assert printed.getvalue() == shown


def test_headwise_itself_does_not_import_spacy() -> None:
    code = "import sys, headwise; headwise.load(); sys.exit('spacy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
