"""The modern Chinese treebank: simplified characters, today's annotation, no held-out text."""

import lzma
import types
from collections.abc import Sequence
from pathlib import Path

import pytest

import headwise
from bench.languages import chinese
from bench.languages.chinese import agreement, convert_sentences, main
from headwise import Sentence

TO_SIMPLE = str.maketrans(
    "這個書們買說話嗎將門關會沒國學廳員", "这个书们买说话吗将门关会没国学厅员"
)


def convert(text: str) -> str:
    """Stand in for OpenCC, which is not a dependency of the tests."""
    return text.translate(TO_SIMPLE)


def old(*words: str) -> bytes:
    """Write words `FORM UPOS XPOS FEATS HEAD DEPREL` as CoNLL-U."""
    rows = [word.split() for word in words]
    lines = [
        f"{number}\t{form}\t_\t{upos}\t{xpos}\t{feats}\t{head}\t{rel}\t_\t_"
        for number, (form, upos, xpos, feats, head, rel) in enumerate(rows, 1)
    ]
    return ("\n".join(lines) + "\n\n").encode()


def converted(tmp_path: Path, *words: str) -> Sentence:
    path = tmp_path / "old.conllu"
    path.write_bytes(old(*words))
    (sentence,) = convert_sentences(headwise.read_sentences(path), convert, "s")
    return sentence


def arcs(sentence: Sentence) -> list[tuple[str, str]]:
    return [(word.head, word.deprel) for word in sentence.words]


def test_a_plain_sentence_gets_new_relations_tags_and_characters(tmp_path: Path) -> None:
    sentence = converted(
        tmp_path,
        "他們 PRON PRP Person=3 3 nsubj",
        "不 ADV RB _ 3 neg",
        "買 VERB VV _ 0 root",
        "了 PART AS Aspect=Perf 3 case:aspect",
        "兩 NUM CD _ 6 nummod",
        "本 NOUN NNB _ 7 nmod",
        "書 NOUN NN _ 3 dobj",
        ". PUNCT . _ 3 punct",
    )
    assert sentence.text == "他们不买了兩本书。"
    assert arcs(sentence) == [
        ("3", "nsubj"),
        ("3", "advmod"),
        ("0", "root"),
        ("3", "aux"),
        ("7", "nummod"),
        ("5", "clf"),
        ("3", "obj"),
        ("3", "punct"),
    ]
    words = sentence.words
    assert [words[0].lemma, words[1].feats, words[3].upos] == ["他", "Polarity=Neg", "AUX"]
    assert words[4].feats == "NumType=Card"
    assert {word.misc for word in words} == {"SpaceAfter=No"}


def test_names_and_titles_have_their_head_first(tmp_path: Path) -> None:
    sentence = converted(
        tmp_path,
        "議員 NOUN NN _ 4 appos",
        "李 PROPN NNP _ 4 nmod",
        "· PUNCT / _ 4 punct",
        "明 PROPN NNP _ 5 nsubj",
        "來 VERB VV _ 0 root",
    )
    assert arcs(sentence) == [
        ("5", "nsubj"),
        ("1", "appos"),
        ("4", "punct"),
        ("2", "flat:name"),
        ("0", "root"),
    ]


def test_the_first_clause_is_the_root(tmp_path: Path) -> None:
    sentence = converted(
        tmp_path,
        "我 PRON PRP Person=1 4 nsubj",
        "來 VERB VV _ 4 dep",
        ", PUNCT , _ 4 punct",
        "看 VERB VV _ 0 root",
        ". PUNCT . _ 4 punct",
    )
    assert arcs(sentence) == [
        ("2", "nsubj"),
        ("0", "root"),
        ("4", "punct"),
        ("2", "parataxis"),
        ("2", "punct"),
    ]


def test_what_is_coordinated_patients_and_manner(tmp_path: Path) -> None:
    sentence = converted(
        tmp_path,
        "將 VERB BB Voice=Cau 7 aux:caus",
        "門 NOUN NN _ 7 dobj",
        "和 CONJ CC _ 2 cc",
        "窗 NOUN NN _ 2 conj",
        "慢 ADJ JJ _ 7 advmod",
        "地 PART DEV Case=Advb 7 mark",
        "關 VERB VV _ 0 root",
        "上 VERB VV _ 7 mark",
        "嗎 X UH Mood=Inter 7 discourse",
    )
    assert arcs(sentence) == [
        ("2", "case"),
        ("7", "obl:patient"),
        ("4", "cc"),
        ("2", "conj"),
        ("7", "advmod"),
        ("5", "mark:adv"),
        ("0", "root"),
        ("7", "mark"),
        ("7", "discourse:sp"),
    ]
    tags = [word.upos for word in sentence.words]
    assert (tags[0], tags[2], tags[5], tags[8]) == ("ADP", "CCONJ", "SCONJ", "PART")
    assert sentence.words[8].feats == "PartType=Int"


def test_an_adjective_depends_on_the_verb_before_it(tmp_path: Path) -> None:
    sentence = converted(
        tmp_path,
        "他 PRON PRP Person=3 4 nsubj",
        "說 VERB VV _ 4 cop",
        "得 PART DEV Case=Comp 4 mark",
        "好 ADJ JJ _ 0 root",
    )
    assert arcs(sentence) == [
        ("2", "nsubj"),
        ("0", "root"),
        ("2", "compound:ext"),
        ("2", "xcomp"),
    ]


def test_prepositions_have_no_dependents_and_brackets_enclose(tmp_path: Path) -> None:
    sentence = converted(
        tmp_path,
        "對 ADP IN _ 7 det",
        "「 PUNCT `` _ 7 punct",
        "Game X FW _ 1 nmod",
        "One X FW _ 3 foreign",
        "」 PUNCT '' _ 7 punct",
        "的 PART DEC Case=Gen 1 case:dec",
        "看法 NOUN NN _ 0 root",
    )
    assert sentence.text == "對“Game One”的看法"
    assert arcs(sentence) == [
        ("7", "case"),
        ("3", "punct"),
        ("7", "nmod"),
        ("3", "flat:foreign"),
        ("3", "punct"),
        ("7", "case"),
        ("0", "root"),
    ]


def test_words_below_punctuation_do_not_make_a_cycle(tmp_path: Path) -> None:
    sentence = converted(
        tmp_path,
        "看 VERB VV _ 0 root",
        "· PUNCT / _ 1 punct",
        "書 NOUN NN _ 2 dobj",
    )
    assert arcs(sentence) == [("0", "root"), ("3", "punct"), ("1", "obj")]


def write(path: Path, sentences: Sequence[bytes]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(lzma.compress(b"".join(sentences)))


def test_the_command_keeps_held_out_text_out_of_train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class OpenCC:
        def __init__(self, name: str) -> None:
            self.convert = convert

    monkeypatch.setitem(chinese.sys.modules, "opencc", types.SimpleNamespace(OpenCC=OpenCC))

    def say(*forms: str) -> list[bytes]:
        return [old(f"{form} VERB VV _ 0 root") for form in forms]

    folder, new = tmp_path / "old", tmp_path / "new"
    write(folder / "dev.conllu.xz", say("一", "二", "三", "四", "五"))
    write(folder / "train.conllu.xz", say("書", "門", "話", "好"))
    write(folder / "test.conllu.xz", say("門"))
    write(new / "dev.conllu.xz", say("一", "二", "三", "四", "五"))
    write(new / "test.conllu.xz", say("书"))
    write(tmp_path / "more.conllu.xz", say("好"))
    arguments = [str(folder), str(new / "dev.conllu.xz"), str(tmp_path / "out")]
    main([*arguments, "--not-in", str(tmp_path / "more.conllu.xz")])
    train, dev = (
        {sentence.words[0].form for sentence in headwise.read_sentences(path)}
        for path in (tmp_path / "out" / f"{part}.conllu.xz" for part in ("train", "dev"))
    )
    assert train & {"书", "门", "话", "好"} == {"话"}
    assert len(dev) == 2
    assert train & dev == set()
    assert train | dev == {"话", "一", "二", "三", "四", "五"}
    assert "agreement of dev after:  {'FORM': 100.0" in capsys.readouterr().out


def test_agreement_counts_columns_in_percent(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_bytes(old("a X X _ 0 root", "b X X _ 1 dep"))
    other = tmp_path / "b.conllu"
    other.write_bytes(old("a X X _ 0 root", "b Y X _ 1 obj"))
    one, two = (headwise.read_sentences(p) for p in (path, other))
    assert agreement(one, two) == {
        "FORM": 100.0,
        "UPOS": 50.0,
        "UFeats": 100.0,
        "UAS": 100.0,
        "LAS": 50.0,
    }


def test_without_opencc_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(chinese.sys.modules, "opencc", None)
    with pytest.raises(SystemExit, match="pip install OpenCC"):
        main(["old", "dev", "out"])
