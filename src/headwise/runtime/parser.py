"""The page to read first: sentences in, parses out.

    text -> Segmenter.segment -> sentence
    sentence -> encode -> ids -> Scorer.select (Eq. 1-6) -> decode (Eq. 8, Sec. 3.3)
             -> Scorer.label -> Parse -> Sentence.with_parse

A parse depends on its sentence alone: not on its neighbours, on the order or on the number of
threads. Streams stay streams: no more than a few chunks of sentences are in memory at a time.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from itertools import chain
from threading import Lock

import numpy as np

from headwise.errors import ConfigError, DataError, ModelError, refuse
from headwise.model.bundle import Bundle
from headwise.runtime.batches import BatchScorer, load_scorer
from headwise.runtime.ensemble import EnsembleScorer
from headwise.runtime.grouping import (
    AHEAD,
    Item,
    Places,
    chunks,
    finished,
    in_order,
    until_error,
    windows,
)
from headwise.runtime.scorer import FloatArray, Precision, Scorer, Selection
from headwise.runtime.stretches import MEMORY_BUDGET, cut, join, longest_within
from headwise.settings.choices import PredictedTag
from headwise.settings.decoding import DecodeConfig
from headwise.text.segmenter import NO_SEGMENTER, SEGMENT_HINT, Segmenter, load_segmenter
from headwise.treebank.conllu import Malformed, OnError
from headwise.treebank.sentence import BLANK, Parse, Sentence
from headwise.trees.decode import decode_batch
from headwise.trees.tree import Tree
from headwise.vocabulary.encode import IntArray, encode, require_tags
from headwise.vocabulary.vocab import Vocab

CHUNK = 128
"""Sentences that a thread takes at a time; of so many, most find some of their length."""
CHUNK_PAIRS = 2_000_000
"""Pairs of words (dependent, head) after which a chunk ends early: long sentences go alone."""
DEFAULT_MODEL = "en"
Annotated = tuple[Item, Parse | None]


class Parser:
    """A scorer with its vocabulary and its way of making trees."""

    def __init__(
        self,
        scorer: Scorer,
        vocab: Vocab,
        decode: DecodeConfig,
        *,
        chunk: int = CHUNK,
        keep_tags: bool = False,
        segmenter: Segmenter | None = None,
    ) -> None:
        """Put the parts together; `chunk` sentences go to the scorer at a time.

        With `keep_tags` a tag that is in the input stays, and only blank ones are filled in.
        Without a segmenter there is no parsing of raw text. `memory_budget`, in bytes, can be set
        afterwards: sentences that would take more are parsed in stretches
        (`headwise.runtime.stretches`); so can `ahead`, the chunks that sentences of similar length
        are looked for in.
        """
        self.scorer = scorer
        self.vocab = vocab
        self.decode = decode
        self.chunk, self.ahead = chunk, AHEAD
        self.keep_tags = keep_tags
        self.segmenter = segmenter
        self.memory_budget = MEMORY_BUDGET
        self._n_processes = 1
        self._long_ones: AbstractContextManager[object] = Lock()

    def share_budget(self, n_processes: int, lock: AbstractContextManager[object]) -> None:
        """Be one of so many processes, forked from one another, that share the memory budget.

        Of their long sentences, one is parsed at a time: by whoever has the lock.
        """
        self._n_processes, self._long_ones = n_processes, lock

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """Select heads, repair what is not a tree, and label the arcs."""
        refuse(sentences, (str, Sentence), "parse takes a list of sentences: parse([sentence])")
        self._require_tags(sentences)
        return self._parse_within(sentences, self._longest(1))

    def _longest(self, threads: int) -> int:
        """Give the length up to which each of so many threads may parse what it likes."""
        n_shares = max(1, threads) * self._n_processes
        return longest_within(self.memory_budget // 2 // n_shares, self.decode.decoder)

    def _parse_within(self, sentences: Sequence[Sentence], longest: int) -> list[Parse]:
        """Parse sentences, those of more than `longest` words when no other thread does."""
        if all(len(sentence) <= longest for sentence in sentences):
            return [parse for parse, _ in self._parse_all(sentences)]
        with self._long_ones:
            return [self._parse_long(sentence) for sentence in sentences]

    def _parse_long(self, sentence: Sentence) -> Parse:
        """Parse one sentence, in stretches if need be, of which one at a time takes memory."""
        limit = longest_within(self.memory_budget // 2, self.decode.decoder)
        parts = cut(sentence, limit) if len(sentence) > limit else [sentence]
        parses = [self._parse_all([part])[0][0] for part in parts]
        known = self.vocab.labels.strings
        return join(parses, self.decode.single_root, known) if parses[1:] else parses[0]

    def parse_with_distributions(
        self, sentences: Sequence[Sentence]
    ) -> list[tuple[Parse, FloatArray]]:
        """Parse, and give for each sentence log P_head, Eq. 5: float32 [N+1, N+1], row 0 unread.

        However long it is: whoever asks for all distributions has room for them.
        """
        self._require_tags(sentences)
        return self._parse_all(sentences)

    def _require_tags(self, sentences: Sequence[Sentence]) -> None:
        for sentence in sentences:
            require_tags(sentence, self.vocab)

    def _parse_all(self, sentences: Sequence[Sentence]) -> list[tuple[Parse, FloatArray]]:
        nonempty = [sentence for sentence in sentences if len(sentence)]
        selections = self._select(nonempty)
        trees = decode_batch(
            [selection.head_log_probs for selection in selections],
            self.decode.decoder,
            self.decode.single_root,
            self.decode.weights,
        )
        label_log_probs = self.scorer.label(selections, [tree.heads for tree in trees])
        parses = map(self._as_parse, nonempty, selections, trees, label_log_probs)
        matrices = (selection.head_log_probs for selection in selections)
        done = zip(parses, matrices, strict=True)
        return [next(done) if len(sentence) else (_NOTHING, _NO_HEADS) for sentence in sentences]

    def _select(self, sentences: Sequence[Sentence]) -> list[Selection]:
        # A vocabulary that reads as another treebank does is not the one that words are kept by.
        if isinstance(self.scorer, BatchScorer) and self.scorer.vocab is self.vocab:
            return self.scorer.select(sentences)
        return self.scorer.select([encode(sentence, self.vocab) for sentence in sentences])

    def _as_parse(
        self, sentence: Sentence, selection: Selection, tree: Tree, label_log_probs: FloatArray
    ) -> Parse:
        heads = tree.heads[1:]
        chosen = selection.head_log_probs[np.arange(1, len(tree.heads)), heads]
        labels = self.vocab.labels.strings
        tags = {
            column: self._tags(sentence, column, index.strings, told)
            for (column, index), told in zip(
                self.vocab.predicted.items(), selection.tags, strict=True
            )
        }
        return Parse(
            tuple(heads.tolist()),
            tuple([labels[i] for i in label_log_probs.argmax(1).tolist()]),
            tuple(chosen.tolist()),
            tree.how,
            **tags,
        )

    def _tags(
        self, sentence: Sentence, column: PredictedTag, strings: Sequence[str], told: IntArray
    ) -> tuple[str, ...]:
        tags = tuple([strings[i] for i in told[1:].tolist()])
        if not self.keep_tags:
            return tags
        given = (getattr(word, column) for word in sentence.words)
        return tuple(old if old != BLANK else new for old, new in zip(given, tags, strict=True))

    def annotate(
        self, items: Iterable[Item], threads: int = 1, on_error: OnError = "raise"
    ) -> Iterator[Annotated]:
        """Parse a stream in order; what is malformed passes through without a parse."""
        instead = "annotate takes sentences: annotate([sentence]); for text there is annotate_text"
        refuse(items, (str, bytes, Sentence), instead)
        if threads < 1:
            raise ConfigError(f"threads is {threads}", "1 or more")
        errors: list[Exception] = []
        found = windows(until_error(self.checked(items, on_error), errors), self.chunk, self.ahead)
        if threads == 1:
            yield from chain.from_iterable(map(self.annotate_window, found))
        else:
            yield from self._annotate_in_threads(found, threads)
        if errors:
            raise errors[0]

    def _annotate_in_threads(
        self, found: Iterable[Sequence[Item]], threads: int
    ) -> Iterator[Annotated]:
        longest = self._longest(threads)
        pending: deque[list[tuple[Places, Future[list[Annotated]]]]] = deque()
        with ThreadPoolExecutor(threads) as pool:

            def submit(window: Sequence[Item], places: Places) -> Future[list[Annotated]]:
                return pool.submit(self._annotate_chunk, [window[i] for i in places], longest)

            try:
                for window in found:
                    parts = self._cut(window, longest)
                    pending.append([(places, submit(window, places)) for places in parts])
                    # Enough for all threads to do while the oldest is waited for and the next read.
                    while sum(map(len, pending)) - len(pending[0]) >= 2 * threads:
                        yield from finished(pending.popleft())
                while pending:
                    yield from finished(pending.popleft())
            finally:
                pool.shutdown(cancel_futures=True)

    def annotate_window(self, window: Sequence[Item]) -> list[Annotated]:
        """Parse what is `checked` and in memory anyway; those of similar length together."""
        longest = self._longest(1)
        return in_order(
            (places, self._annotate_chunk([window[i] for i in places], longest))
            for places in self._cut(window, longest)
        )

    def _cut(self, window: Sequence[Item], longest: int) -> list[Places]:
        return chunks(window, self.chunk, min(CHUNK_PAIRS, longest**2), self.ahead)

    def annotate_text(
        self, text: str | Iterable[str], threads: int = 1
    ) -> Iterator[tuple[Sentence, Parse]]:
        """Parse raw text, whole or in chunks of any size: its sentences in order."""
        refuse(text, (bytes,), "annotate_text takes str; decode bytes first")
        if self.segmenter is None:
            raise ModelError(NO_SEGMENTER, SEGMENT_HINT)
        for sentence, parse in self.annotate(self.segmenter.segment(text), threads):
            assert isinstance(sentence, Sentence)
            assert parse is not None
            yield sentence, parse

    def _annotate_chunk(self, items: Sequence[Item], longest: int) -> list[Annotated]:
        sentences = [item for item in items if isinstance(item, Sentence)]
        parses = iter(self._parse_within(sentences, longest))
        result: list[Annotated] = []
        for item in items:
            if isinstance(item, Malformed):
                result.append((item, None))
                continue
            parse = next(parses)
            result.append((item.with_parse(parse), parse))
        return result

    def checked(self, items: Iterable[Item], on_error: OnError) -> Iterator[Item]:
        """Refuse sentences without the tags that the model reads, or take them as malformed."""
        return (self._check(item, on_error) for item in items)

    def _check(self, item: Sentence | Malformed, on_error: OnError) -> Sentence | Malformed:
        if isinstance(item, Malformed):
            return item
        try:
            require_tags(item, self.vocab)
        except DataError as error:
            if on_error != "skip":
                raise
            return Malformed(item.conllu.encode("utf-8"), error)
        return item


_NOTHING = Parse((), (), (), "greedy")
_NO_HEADS = np.zeros((1, 1), np.float32)


def load_parser(
    bundle: Bundle,
    precision: Precision = "int8",
    decode: DecodeConfig | None = None,
    keep_tags: bool = False,
) -> Parser:
    """Make a parser of a model folder, to run on the CPU; `decode` overrides the model's own."""
    return Parser(
        load_scorer(bundle, precision),
        bundle.vocab,
        decode or bundle.manifest.decode,
        keep_tags=keep_tags,
        segmenter=load_segmenter(bundle),
    )


def join_parsers(parsers: Sequence[Parser]) -> Parser:
    """Make an ensemble, which parses by the mean of what its members say.

    Words in raw text, and the way of making trees, are those of the first.
    """
    first = parsers[0]
    if len(parsers) == 1:
        return first
    scorer = EnsembleScorer([(parser.scorer, parser.vocab) for parser in parsers])
    joined = Parser(
        scorer,
        scorer.vocab,
        first.decode,
        chunk=first.chunk,
        keep_tags=first.keep_tags,
        segmenter=first.segmenter,
    )
    joined.ahead = first.ahead
    return joined
