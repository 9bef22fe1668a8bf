"""The page to read first: sentences in, parses out.

    text -> Segmenter.segment -> sentence
    sentence -> Scorer.select (Eq. 1-6) -> decode (Eq. 8, Sec. 3.3) -> Scorer.label -> Parse
             -> Sentence.with_parse

A parse depends only on its sentence: not on its neighbours, on the order or on the number of
threads. Streams stay streams: no more than a few chunks of sentences are in memory at a time.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from itertools import chain, islice
from operator import methodcaller
from threading import Lock
from typing import TypeVar

import numpy as np

from headwise.arrays import FloatArray
from headwise.document import Document, make_document
from headwise.errors import ConfigError, DataError, ModelError, plural, refuse
from headwise.grouping import chunks, defer_exception, in_order, windows
from headwise.runtime.columns import ColumnWriter, Written, probabilities
from headwise.runtime.kept import check_heads, check_labels, decode_around, merge_kept
from headwise.runtime.lemmas import set_lemmas
from headwise.runtime.long_sentences import join_parses, split_sentence
from headwise.runtime.scorer import Scorer, Selection
from headwise.runtime.tree_space import with_tree_space
from headwise.settings.choices import Column, Decoder
from headwise.settings.parsing import ParserSettings
from headwise.text.segmenter import NO_SEGMENTER, SEGMENT_HINT, Segmenter
from headwise.treebank.conllu import Malformed, OnError
from headwise.treebank.probabilities import with_probabilities
from headwise.treebank.sentence import Parse, Sentence
from headwise.trees.constraints import Constraints
from headwise.trees.decode import Tree, decode_batch
from headwise.vocabulary.encode import require_tags

MAX_CHUNK_PAIRS = 2_000_000
"""Pairs of words (dependent, head) after which a chunk ends early."""
BYTES_PER_PAIR: dict[Decoder, int] = {"greedy": 16, "mst": 32, "eisner": 48}
"""Bytes for each pair of words, decoding included: 11 to 41 were measured."""
BYTES_PER_WORD = 2**15
"""Bytes for each word: its states, and what an LSTM needs to compute them."""
MAX_TEXTS = 2**12
"""Texts that share a stream: blank ones wait for a sentence after them, and must not pile up."""
_NO_SENTENCE = (
    "parse takes objects of Sentence: headwise.sentence_from_words makes them of words, "
    'read_sentences of a treebank, and parser("Some text.") parses text'
)
Item = Sentence | Malformed
Annotated = tuple[Item, Parse | None]
_T = TypeVar("_T")


class Parser:
    """A scorer, with the settings that say how its distributions become parses."""

    def __init__(
        self,
        scorer: Scorer,
        segmenter: Segmenter | None,
        settings: ParserSettings,
        long_sentence_lock: AbstractContextManager[object] | None = None,
    ) -> None:
        """Put the parts together; without a segmenter, raw text cannot be parsed.

        Parsers that share a memory budget share a lock too: of their long sentences, one is parsed
        at a time.
        """
        self.scorer = scorer
        self.segmenter = segmenter
        self.settings = settings
        self.vocab = scorer.vocab
        self._columns = ColumnWriter(scorer.vocab, settings.keep)
        self._long_sentence_lock = long_sentence_lock or Lock()

    def with_settings(
        self,
        settings: ParserSettings,
        long_sentence_lock: AbstractContextManager[object] | None = None,
    ) -> "Parser":
        """Make a parser with other settings that shares this one's scorer and segmenter."""
        lock = long_sentence_lock or self._long_sentence_lock
        return Parser(self.scorer, self.segmenter, settings, lock)

    def parse(
        self,
        sentences: Sequence[Sentence],
        constraints: Sequence[Constraints | None] | None = None,
    ) -> list[Parse]:
        """Select heads, repair what is not a tree, and label the arcs.

        With constraints, one for each sentence or None, the tree is the best that satisfies them.
        """
        refuse(sentences, (str, Sentence), "parse takes a list of sentences: parse([sentence])")
        for sentence in sentences:
            refuse(sentence, (str, list, tuple), _NO_SENTENCE)
            self.check(sentence)
        if constraints is not None:
            return [parse for parse, _ in self.parse_with_distributions(sentences, constraints)]
        longest = self._longest(1)
        max_pairs = min(MAX_CHUNK_PAIRS, longest**2)
        lengths = list(map(len, sentences))
        return in_order(
            (at, self._parse_chunk([sentences[i] for i in at], longest))
            for at in chunks(lengths, self.settings.chunk_size, max_pairs)
        )

    def parse_with_distributions(
        self,
        sentences: Sequence[Sentence],
        constraints: Sequence[Constraints | None] | None = None,
    ) -> list[tuple[Parse, FloatArray]]:
        """Parse, and return log P_head of each sentence, Eq. 5: float32 [N+1, N+1], row 0 unread.

        All distributions are in memory at once, whatever the budget. Constraints are as in `parse`.
        """
        if constraints is not None and len(constraints) != len(sentences):
            what = f"{len(constraints)} constraints for {plural(len(sentences), 'sentence')}"
            raise ConfigError(what, "give one for each sentence, or None")
        for sentence in sentences:
            self.check(sentence)
        return self._parse_together(sentences, constraints)

    def fill_in(self, sentence: Sentence, parse: Parse) -> Sentence:
        """Copy a sentence with the values of a parse and, if so set, their probabilities."""
        filled = sentence.with_parse(parse)
        return with_probabilities(filled, parse) if self.settings.probabilities else filled

    @property
    def _must_check(self) -> bool:
        """Whether there is anything to check; most parsers take any sentence."""
        return bool(self.vocab.reads) or not {"heads", "labels"}.isdisjoint(self.settings.keep)

    def check(self, sentence: Sentence) -> None:
        """Raise a `DataError` if the sentence lacks tags that the model reads, or heads conflict.

        Heads count only if they are kept, and so do labels, which must not be too long.
        """
        require_tags(sentence, self.vocab)
        if "labels" in self.settings.keep:
            check_labels(sentence)
        if "heads" not in self.settings.keep:
            return
        decode = self.settings.decode
        check_heads(sentence, decode.single_root)
        longest = longest_within(self.settings.memory_budget // 2, decode.decoder)
        if len(sentence) > longest and any(head is not None for head in sentence.heads):
            size = f"a sentence of {len(sentence):,} words"
            what = f"{size} is parsed in parts, which cannot keep its heads"
            hint = "raise the memory budget, or do not keep heads"
            raise DataError(what, sentence.source, sentence.first_line, hint)

    def segment(self, text: str | Iterable[str]) -> Iterator[Sentence]:
        """Find sentences and words in raw text, whole or in chunks of any size, without parsing."""
        refuse(text, (bytes,), "text is str; decode bytes first")
        if self.segmenter is None:
            raise ModelError(NO_SEGMENTER, SEGMENT_HINT)
        return self.segmenter.segment(text)

    def annotate_text(
        self, text: str | Iterable[str], threads: int = 1
    ) -> Iterator[tuple[Sentence, Parse]]:
        """Parse raw text, whole or in chunks of any size: its sentences in order."""
        for sentence, parse in self.annotate(self.segment(text), threads):
            assert isinstance(sentence, Sentence)
            assert parse is not None
            yield sentence, parse

    def __call__(self, text: str, threads: int = 1) -> Document:
        """Parse a text into a document of sentences and words."""
        (document,) = self.pipe([text], threads)
        return document

    def pipe(self, texts: Iterable[str], threads: int = 1) -> Iterator[Document]:
        """Parse many texts: a document for each, in order, as they are ready.

        This is faster than one text at a time, because sentences of similar length share a pass
        across documents. Only a few hundred sentences, and the documents they belong to, are in
        memory at a time.
        """
        refuse(texts, (str, bytes), "pipe takes several texts: pipe([text]); for one: parser(text)")
        left = iter(texts)
        for first in left:
            run = chain([first], islice(left, MAX_TEXTS - 1))
            for text, parsed in self.annotate_groups(self._segment_all(run), threads):
                yield make_document(text, parsed)

    def _segment_all(self, texts: Iterable[str]) -> Iterator[tuple[str, list[Sentence]]]:
        for text in texts:
            if not isinstance(text, str):
                raise TypeError(f"a text is {type(text).__name__}, not str")
            sentences = self.segment(text)
            yield text, [] if text.isspace() or not text else list(sentences)

    def annotate_groups(
        self, groups: Iterable[tuple[_T, Sequence[Sentence]]], threads: int = 1
    ) -> Iterator[tuple[_T, list[tuple[Sentence, Parse]]]]:
        """Parse groups of sentences, each with a key, in one stream; they come back in order."""
        waiting: deque[tuple[_T, int]] = deque()  # each key with its number of sentences

        def read_all() -> Iterator[Sentence]:
            for key, sentences in groups:
                waiting.append((key, len(sentences)))
                yield from sentences

        done: list[tuple[Sentence, Parse]] = []
        for sentence, parse in self.annotate(read_all(), threads):
            while waiting[0][1] == 0:
                yield waiting.popleft()[0], []
            assert isinstance(sentence, Sentence)
            assert parse is not None
            done.append((sentence, parse))
            if len(done) == waiting[0][1]:
                yield waiting.popleft()[0], done
                done = []
        for key, _ in waiting:
            yield key, []

    def annotate(
        self, items: Iterable[Item], threads: int = 1, on_error: OnError = "raise"
    ) -> Iterator[Annotated]:
        """Parse a stream in order; what is malformed passes through without a parse."""
        if isinstance(items, str | bytes | Sentence):
            raise TypeError(
                "annotate takes sentences: annotate([sentence]); for text there is annotate_text"
            )
        if threads < 1:
            raise ConfigError(f"threads is {threads}", "1 or more")
        errors: list[Exception] = []
        longest = self._longest(threads)
        cut = windows(
            defer_exception(self._checked(items, on_error) if self._must_check else items, errors),
            methodcaller("size"),
            self.settings.chunk_size,
            min(MAX_CHUNK_PAIRS, longest**2),
            self.settings.look_ahead,
            self.settings.first_window,
        )
        if threads == 1:
            for window, parts in cut:
                yield from in_order(
                    (at, self._annotate_chunk([window[i] for i in at], longest)) for at in parts
                )
        else:
            yield from self._annotate_in_threads(cut, longest, threads)
        if errors:
            raise errors[0]

    def _annotate_in_threads(
        self, cut: Iterable[tuple[list[Item], list[list[int]]]], longest: int, threads: int
    ) -> Iterator[Annotated]:
        pending: deque[list[tuple[list[int], Future[list[Annotated]]]]] = deque()
        with ThreadPoolExecutor(threads) as pool:
            try:
                for window, parts in cut:
                    futures = [
                        (at, pool.submit(self._annotate_chunk, [window[i] for i in at], longest))
                        for at in parts
                    ]
                    pending.append(futures)
                    # Enough for all threads to do while the oldest is waited for and the next read.
                    while sum(map(len, pending)) - len(pending[0]) >= 2 * threads:
                        yield from in_order((at, part.result()) for at, part in pending.popleft())
                while pending:
                    yield from in_order((at, part.result()) for at, part in pending.popleft())
            finally:
                pool.shutdown(cancel_futures=True)

    def _annotate_chunk(self, items: Sequence[Item], longest: int) -> list[Annotated]:
        """Parse the sentences of a chunk and write the parses into them."""
        sentences = [item for item in items if isinstance(item, Sentence)]
        parses = iter(self._parse_chunk(sentences, longest))
        return [
            (self.fill_in(item, parse := next(parses)), parse)
            if isinstance(item, Sentence)
            else (item, None)
            for item in items
        ]

    def _checked(self, items: Iterable[Item], on_error: OnError) -> Iterator[Item]:
        """Treat sentences that cannot be parsed as malformed, or raise an error."""
        for item in items:
            try:
                if isinstance(item, Sentence):
                    self.check(item)
                yield item
            except DataError as error:
                if on_error != "skip":
                    raise
                yield Malformed(item.data, error)

    def _longest(self, threads: int) -> int:
        """Return the length up to which each thread may parse sentences without the lock."""
        budget = self.settings.memory_budget // 2 // (threads * self.settings.processes)
        return longest_within(budget, self.settings.decode.decoder)

    def _parse_chunk(self, sentences: Sequence[Sentence], longest: int) -> list[Parse]:
        """Parse sentences; if one has more than `longest` words, while no other thread does."""
        if all(len(sentence) <= longest for sentence in sentences):
            return [parse for parse, _ in self._parse_together(sentences)]
        with self._long_sentence_lock:
            return [self._parse_long(sentence) for sentence in sentences]

    def _parse_long(self, sentence: Sentence) -> Parse:
        """Parse one sentence, in parts if need be, of which one at a time takes memory."""
        decode = self.settings.decode
        limit = longest_within(self.settings.memory_budget // 2, decode.decoder)
        parts = split_sentence(sentence, limit) if len(sentence) > limit else [sentence]
        parses = [self._parse_together([part])[0][0] for part in parts]
        if len(parses) == 1:
            return parses[0]
        return join_parses(parses, decode.single_root, self.vocab.labels.strings)

    def _parse_together(
        self,
        sentences: Sequence[Sentence],
        constraints: Sequence[Constraints | None] | None = None,
    ) -> list[tuple[Parse, FloatArray]]:
        """Parse sentences and return their head distributions: the path of the paper."""
        keep = self.settings.keep
        pairs = [
            (sentence, merge_kept(sentence, keep, given) if keep else given)
            for sentence, given in zip(
                sentences, constraints or [None] * len(sentences), strict=True
            )
            if len(sentence)
        ]
        selections = self.scorer.select([sentence for sentence, _ in pairs])
        try:
            trees = self._decode(selections, pairs)
        except ValueError as error:
            what = f"the model gives no distribution over heads: {error}"
            raise ModelError(what, "its weights are damaged; fetch or train it again") from error
        label_log_probs = self.scorer.label(selections, [tree.heads for tree in trees])
        columns = self._columns.write([sentence for sentence, _ in pairs], selections)
        results = (
            (self._as_parse(*pair, selection, tree, log_probs, written), selection.head_log_probs)
            for pair, selection, tree, log_probs, written in zip(
                pairs, selections, trees, label_log_probs, columns, strict=True
            )
        )
        empty = (Parse((), (), (), "greedy"), np.zeros((1, 1), np.float32))
        return [next(results) if len(sentence) else empty for sentence in sentences]

    def _decode(
        self, selections: Sequence[Selection], pairs: Sequence[tuple[Sentence, Constraints | None]]
    ) -> list[Tree]:
        """Make trees of distributions, around what is given if anything is."""
        log_probs = [selection.head_log_probs for selection in selections]
        decode = self.settings.decode
        if all(asked is None for _, asked in pairs):
            return decode_batch(log_probs, decode.decoder, decode.single_root, decode.weights)
        trees: list[Tree] = []
        for (sentence, asked), of_sentence in zip(pairs, log_probs, strict=True):
            try:
                trees += decode_around([of_sentence], [asked], decode)
            except ConfigError as error:
                what = f"the sentence {sentence.text[:40]!r}: {error.what}"
                raise ConfigError(what, error.hint) from error
        return trees

    def _as_parse(
        self,
        sentence: Sentence,
        asked: Constraints | None,
        selection: Selection,
        tree: Tree,
        label_log_probs: FloatArray,
        columns: Written,
    ) -> Parse:
        heads = tree.heads[1:]
        chosen = selection.head_log_probs[np.arange(1, len(tree.heads)), heads]
        keep = self.settings.keep
        strings = self.vocab.labels.strings
        labels = tuple([strings[i] for i in label_log_probs.argmax(1).tolist()])
        probs: dict[Column, tuple[float, ...]] = {"labels": probabilities(label_log_probs.max(1))}
        if asked is not None and asked.labels:
            fixed = asked.labels
            labels = tuple([fixed.get(i, label) for i, label in enumerate(labels, 1)])
            of_labels = enumerate(probs["labels"], 1)
            probs["labels"] = tuple([math.nan if i in fixed else prob for i, prob in of_labels])
        probs |= {column: of_column for column, (_, of_column) in columns.items()}
        values = {column: of_column for column, (of_column, _) in columns.items()}
        parse = Parse(
            tuple(heads.tolist()),
            labels,
            tuple(chosen.tolist()),
            tree.how,
            values.get("upos", ()),
            values.get("xpos", ()),
            values.get("feats", ()),
            values.get("lemma", ()),
            probs,
        )
        if self.settings.k_best or self.settings.marginals:
            parse = with_tree_space(parse, tree, selection, self.scorer, self.settings, asked)
        if not self.settings.lemmas:
            return parse
        return set_lemmas(sentence, parse, self.settings.lemmas, "lemma" in keep)


def longest_within(budget: int, decoder: Decoder) -> int:
    """Return the number of words whose parsing takes `budget` bytes: a n^2 + b n = budget."""
    a, b = BYTES_PER_PAIR[decoder], BYTES_PER_WORD
    return max(1, int((math.sqrt(b * b + 4 * a * budget) - b) / (2 * a)))
