"""Noun chunks of real parses, of trees made by hand, and what must hold for any tree."""

import random
from multiprocessing.reduction import ForkingPickler

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from headwise.integrations.noun_chunks import NounChunks, find_noun_chunks, use_noun_chunks
from headwise.integrations.spacy import ParserComponent, Settings

TELESCOPE = "The tall man saw a small dog with the old telescope in Paris."
TELESCOPE_CHUNKS = ["The tall man", "a small dog", "the old telescope", "Paris"]
ENGLISH = {
    TELESCOPE: TELESCOPE_CHUNKS,
    # possessors, coordination
    "John's car and Mary's two red bikes were stolen by the neighbours.": [
        *("John's car", "Mary's two red bikes", "the neighbours"),
    ],
    "Both the cats and the dogs slept.": ["the cats", "the dogs"],
    "My brother's best friend's dog barked at us.": ["My brother's best friend's dog", "us"],
    "The European Commission's new rules on data protection affect many small and medium-sized "
    "companies.": [
        "The European Commission's new rules",
        "data protection",
        "many small and medium-sized companies",
    ],
    # names, appositions, prepositions
    "Barack Obama, the former president of the United States, met Angela Merkel in New York "
    "City.": [
        "Barack Obama",
        "the former president",
        "the United States",
        "Angela Merkel",
        "New York City",
    ],
    "Dr. Smith lives at 5 Main Street, room 12.": ["Dr. Smith", "5 Main Street", "room 12"],
    "The well-known New York Times reporter asked the U.S. Secretary of State a question.": [
        "The well-known New York Times reporter",
        "the U.S. Secretary",
        "State",
        "a question",
    ],
    # predicates, pronouns, relative clauses, expletives
    "She is not a doctor, but he is.": ["She", "a doctor", "he"],
    "They made him chairman of the board.": ["They", "him", "chairman", "the board"],
    "The man who lives here sold everything he owned.": [
        *("The man", "who", "everything", "he"),
    ],
    "There is a big, bad wolf in the dark forest behind my grandmother's house.": [
        *("a big, bad wolf", "the dark forest", "my grandmother's house"),
    ],
    "A man proud of his son entered.": ["A man", "his son"],
    # numbers, white space
    "I gave him 20 apples and about 30 ripe oranges in 1990.": [
        *("I", "him", "20 apples", "about 30 ripe oranges"),
    ],
    "It costs $5 million.": ["It", "$5 million"],
    "\n Only the very  old men\n\nremember the Second World War.": [
        *("the very  old men", "the Second World War"),
    ],
    "Barack  Obama  slept.": ["Barack  Obama"],
    "Run!": [],
    "": [],
}


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("headwise")
    return nlp


def chunks(doc: Doc) -> list[str]:
    return [chunk.text for chunk in doc.noun_chunks]


@pytest.mark.parametrize("text", ENGLISH)
def test_chunks_of_english(nlp: Language, text: str) -> None:
    assert chunks(nlp(text)) == ENGLISH[text]


def test_chunks_are_spans_with_a_root(nlp: Language) -> None:
    doc = nlp(TELESCOPE)
    found = list(doc.noun_chunks)
    assert [chunk.root.text for chunk in found] == ["man", "dog", "telescope", "Paris"]
    assert {chunk.label_ for chunk in found} == {"NP"}
    assert [chunk.text for chunk in doc[4:].noun_chunks] == TELESCOPE_CHUNKS[1:]


def test_copies_and_stored_documents_have_the_same_chunks(nlp: Language) -> None:
    doc = nlp(TELESCOPE)
    (stored,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(nlp.vocab)
    pickled = ForkingPickler.loads(ForkingPickler.dumps(nlp))
    others = [
        stored,
        Doc(nlp.vocab).from_bytes(doc.to_bytes()),
        doc.copy(),
        doc[:].as_doc(),
        pickled(TELESCOPE),
    ]
    assert [chunks(other) for other in others] == [TELESCOPE_CHUNKS] * len(others)


def test_a_document_of_another_pipeline_has_chunks_too() -> None:
    component = ParserComponent("headwise", Settings())
    for language in ("en", "xx"):
        assert chunks(component(spacy.blank(language)(TELESCOPE))) == TELESCOPE_CHUNKS


def test_spacy_can_merge_chunks(nlp: Language) -> None:
    merging = spacy.blank("en")
    merging.add_pipe("headwise")
    merging.add_pipe("merge_noun_chunks")
    words = [token.text for token in merging(TELESCOPE)]
    assert words == [
        *("The tall man", "saw", "a small dog", "with", "the old telescope", "in", "Paris", "."),
    ]


def made(text: str, language: str = "xx") -> Doc:
    """Make a document of words such as `Le/DET/2/det`."""
    rows = [word.split("/") for word in text.split()]
    words, tags, heads, labels = zip(*rows, strict=True)
    positions = [int(head) - 1 if head != "0" else i for i, head in enumerate(heads)]
    vocab = spacy.blank(language).vocab
    use_noun_chunks(vocab)
    return Doc(vocab, words=words, pos=tags, heads=positions, deps=labels)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (  # modifiers after the noun
            "La/DET/2/det maison/NOUN/0/root rouge/ADJ/2/amod de/ADP/5/case Paul/PROPN/2/nmod",
            ["La maison rouge", "Paul"],
        ),
        (  # a modifier with a complement, between article and noun
            "das/DET/5/det von/ADP/3/case ihm/PRON/4/obl gekaufte/ADJ/5/amod Auto/NOUN/0/root",
            ["das von ihm gekaufte Auto"],
        ),
        ("Peters/PROPN/2/nmod Auto/NOUN/0/root", ["Peters Auto"]),
        (  # a genitive with a postposition is a chunk of its own
            "दिल्ली/PROPN/3/nmod का/ADP/1/case राजा/NOUN/0/root",
            ["दिल्ली", "राजा"],
        ),
        ("buku/NOUN/0/root ini/DET/1/det", ["buku ini"]),
        ("den/DET/2/det då/ADV/3/advmod chefen/NOUN/0/root", ["chefen"]),
        ("den/DET/3/det då/ADV/3/advmod chefen/NOUN/0/root", ["den då chefen"]),
        ("Jean/PROPN/0/root -/PUNCT/1/punct Paul/PROPN/1/flat:name", ["Jean - Paul"]),
        ("dogs/NOUN/0/root ,/PUNCT/1/punct big/ADJ/1/amod", ["dogs"]),
        ("Tee/NOUN/0/root aus/ADP/1/compound:prt", ["Tee"]),
        ("it/PRON/2/expl rains/VERB/0/root", []),
        ("a/DET/3/det b/VERB/0/root c/NOUN/2/obj", ["c"]),  # the determiner is elsewhere
    ],
)
def test_chunks_of_trees_made_by_hand(text: str, expected: list[str]) -> None:
    assert [chunk.text.strip() for chunk in made(text).noun_chunks] == expected


def test_labels_of_others_keep_their_rules() -> None:
    text = "I/PRON/2/nsubj saw/VERB/2/ROOT a/DET/4/det dog/NOUN/2/dobj in/ADP/2/prep it/PRON/5/pobj"
    assert [chunk.text.strip() for chunk in made(text, "en").noun_chunks] == ["I", "a dog", "it"]
    with pytest.raises(NotImplementedError, match="labels of UD"):
        list(made(text).noun_chunks)
    with pytest.raises(ValueError, match="E029"):
        list(spacy.blank("en")("No parse").noun_chunks)


def test_rules_are_put_in_place_once() -> None:
    vocab = spacy.blank("en").vocab
    theirs = vocab.get_noun_chunks
    for _ in range(2):
        use_noun_chunks(vocab)
        assert vocab.get_noun_chunks == NounChunks(theirs)


RELATIONS = ("nsubj", "nmod", "nmod:poss", "det", "amod", "case", "flat", "punct", "acl", "cc")


@given(st.integers(1, 12), st.integers(0, 2**32))
def test_chunks_of_any_tree_are_in_order_and_apart(n_words: int, seed: int) -> None:
    rng = random.Random(seed)
    order = rng.sample(range(n_words), n_words)
    heads = {word: order[rng.randrange(k)] for k, word in enumerate(order) if k}
    doc = Doc(
        spacy.blank("xx").vocab,
        words=["w"] * n_words,
        pos=rng.choices(["NOUN", "PRON", "SYM", "ADJ"], k=n_words),
        heads=[heads.get(i, i) for i in range(n_words)],
        deps=[rng.choice(RELATIONS) if i in heads else "root" for i in range(n_words)],
    )
    last_end = 0
    for start, end, _ in find_noun_chunks(doc):
        assert last_end <= start < end <= n_words
        assert any(token.pos_ in ("NOUN", "PRON", "SYM") for token in doc[start:end])
        last_end = end
