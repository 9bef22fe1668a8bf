"""The page to read first: sentences in, parses out.

    sentence -> encode -> ids -> Scorer.select (Eq. 1-6) -> decode (Eq. 8, Sec. 3.3)
             -> Scorer.label -> Parse -> Sentence.with_parse

A parse depends on its sentence alone: not on its neighbours, on the order or on the number of
threads. Streams stay streams: no more than a few chunks of sentences are in memory at a time.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from headwise.config import DecodeConfig
from headwise.errors import DataError
from headwise.model.bundle import Bundle
from headwise.model.scorer import OnnxScorer, Precision, Scorer
from headwise.trees.decode import decode_batch
from headwise.words.conllu import Malformed, OnError
from headwise.words.encode import encode, require_tags
from headwise.words.sentence import Parse, Sentence
from headwise.words.vocab import N_SPECIALS, Vocab

CHUNK = 32
"""Sentences that a thread takes at a time."""
CHUNK_PAIRS = 2_000_000
"""Pairs of words (dependent, head) after which a chunk ends early: long sentences go alone."""
DEFAULT_MODEL = "en"


class Parser:
    """A scorer with its vocabulary and its way of making trees."""

    def __init__(
        self, scorer: Scorer, vocab: Vocab, decode: DecodeConfig, chunk: int = CHUNK
    ) -> None:
        """Put the parts together; `chunk` sentences go to the scorer at a time."""
        self.scorer = scorer
        self.vocab = vocab
        self.decode = decode
        self.chunk = chunk

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """Select heads, repair what is not a tree, and label the arcs."""
        for sentence in sentences:
            require_tags(sentence, self.vocab)
        encoded = [encode(sentence, self.vocab) for sentence in sentences if len(sentence)]
        selections = self.scorer.select(encoded)
        trees = decode_batch(
            [selection.head_log_probs for selection in selections],
            self.decode.decoder,
            self.decode.single_root,
            self.decode.weights,
        )
        label_log_probs = self.scorer.label(selections, [tree.heads for tree in trees])
        parses = []
        for selection, tree, log_probs in zip(selections, trees, label_log_probs, strict=True):
            heads = tree.heads[1:]
            chosen = selection.head_log_probs[range(1, len(tree.heads)), heads]
            labels = [self.vocab.labels.string_of(i + N_SPECIALS) for i in log_probs.argmax(1)]
            parses.append(
                Parse(tuple(heads.tolist()), tuple(labels), tuple(chosen.tolist()), tree.how)
            )
        done = iter(parses)
        return [next(done) if len(sentence) else _NOTHING for sentence in sentences]

    def annotate(
        self, items: Iterable[Sentence | Malformed], threads: int = 1, on_error: OnError = "raise"
    ) -> Iterator[tuple[Sentence | Malformed, Parse | None]]:
        """Parse a stream in order; what is malformed passes through without a parse."""
        chunks = _chunks(items, self.chunk)
        if threads <= 1:
            for chunk in chunks:
                yield from self._annotate_chunk(chunk, on_error)
            return
        pending: deque[Future[list[tuple[Sentence | Malformed, Parse | None]]]] = deque()
        with ThreadPoolExecutor(threads) as pool:
            try:
                for chunk in chunks:
                    pending.append(pool.submit(self._annotate_chunk, chunk, on_error))
                    if len(pending) > 2 * threads:
                        yield from pending.popleft().result()
                while pending:
                    yield from pending.popleft().result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _annotate_chunk(
        self, items: Sequence[Sentence | Malformed], on_error: OnError
    ) -> list[tuple[Sentence | Malformed, Parse | None]]:
        checked = [self._check(item, on_error) for item in items]
        sentences = [item for item in checked if isinstance(item, Sentence)]
        parses = iter(self.parse(sentences))
        result: list[tuple[Sentence | Malformed, Parse | None]] = []
        for item in checked:
            if isinstance(item, Malformed):
                result.append((item, None))
            else:
                parse = next(parses)
                result.append((item.with_parse(parse), parse))
        return result

    def _check(self, item: Sentence | Malformed, on_error: OnError) -> Sentence | Malformed:
        if isinstance(item, Malformed):
            return item
        try:
            require_tags(item, self.vocab)
        except DataError as error:
            if on_error != "skip":
                raise
            return Malformed(item.text.encode("utf-8"), error)
        return item


_NOTHING = Parse((), (), (), "greedy")


def _chunks(
    items: Iterable[Sentence | Malformed], size: int
) -> Iterator[list[Sentence | Malformed]]:
    chunk: list[Sentence | Malformed] = []
    n_pairs = 0
    for item in items:
        own = len(item) ** 2 if isinstance(item, Sentence) else 0
        if chunk and (len(chunk) == size or n_pairs + own > CHUNK_PAIRS):
            yield chunk
            chunk, n_pairs = [], 0
        chunk.append(item)
        n_pairs += own
    if chunk:
        yield chunk


def load_parser(
    bundle: Bundle, precision: Precision = "int8", decode: DecodeConfig | None = None
) -> Parser:
    """Make a parser of a model folder, to run on the CPU; `decode` overrides the model's own."""
    return Parser(OnnxScorer(bundle, precision), bundle.vocab, decode or bundle.manifest.decode)
