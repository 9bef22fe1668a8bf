"""Train and score the classifier of languages (`headwise.text.identify`).

    python -m bench.identify train src/headwise/text/languages.npz languages en=UD_English-EWT ...
    python -m bench.identify score languages en=UD_English-EWT ...

Each source is `CODE=FOLDER`, a treebank with `train.conllu.xz` and `dev.conllu.xz`, or a folder of
such folders that are named by their codes. `CODE=FOLDER@PATTERN` takes only sentences whose
`sent_id` starts with the pattern, so that text under NC can be left out. A code may have several
sources; dev is that of the first. Serbian is learned in both of its scripts.

Training sees parts of sentences, of four words or more, since users bring short texts too, and
lists of stop words. All languages are drawn equally often.
"""

import argparse
import importlib
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

import headwise
from headwise.text.identify import Identifier, letters_of, load_identifier, ngram_rows

N_ROWS, SIZE = 90_000, 16
MAX_SENTENCES = 5_000
EPOCHS, BATCH, RATE = 8, 256, 0.3
SEED = 1
MORE_THAN_WORDS = 5
STOP_WORDS_IN_A_LIST, N_LISTS = 8, 200
LATIN = "abcčćdđefghijklmnoprsštuvzž"
CYRILLIC = "абцчћдђефгхијклмнопрсштувзж"
TWO_LETTERS = {"dž": "џ", "lj": "љ", "nj": "њ"}


def to_cyrillic(text: str) -> str:
    """Write Serbian in its other script."""
    small = dict(zip(LATIN, CYRILLIC, strict=True)) | TWO_LETTERS
    letters = small | {latin.capitalize(): small[latin].upper() for latin in small}
    return re.sub("[DdLlNn][jž]|.", lambda match: letters.get(match[0], match[0]), text)


def sources_of(specs: Sequence[str]) -> dict[str, list[tuple[Path, str]]]:
    """Read the arguments: folders and patterns by language."""
    sources = defaultdict(list)
    for spec in specs:
        code, _, where = spec.rpartition("=")
        folder, _, pattern = where.partition("@")
        if code:
            sources[code].append((Path(folder), pattern))
        else:
            for path in sorted(Path(folder).iterdir()):
                if path.is_dir():
                    sources[path.name].append((path, ""))
    return dict(sorted(sources.items()))


def read_texts(folder: Path, part: str, pattern: str) -> Iterator[tuple[str, int]]:
    """Give the text and the number of words of each sentence."""
    for sentence in headwise.read_sentences(folder / f"{part}.conllu.xz"):
        if re.match(pattern, sentence.metadata.get("sent_id", "") or ""):
            yield sentence.text, len(sentence)


def read_training(sources: Mapping[str, list[tuple[Path, str]]]) -> tuple[list[str], list[int]]:
    """Read the training sentences of all languages, and the number of each one's language."""
    chance = random.Random(SEED)  # noqa: S311
    texts: list[str] = []
    labels: list[int] = []
    for label, (code, folders) in enumerate(sources.items()):
        found = [text for one in folders for text, _ in read_texts(one[0], "train", one[1])]
        chance.shuffle(found)
        found = found[:MAX_SENTENCES]
        if code == "sr":
            found += [to_cyrillic(text) for text in found[: len(found) // 2]]
        found += lists_of_stop_words(code, chance)
        texts += found
        labels += [label] * len(found)
        print(f"{code}: {len(found):,} sentences", flush=True)
    return texts, labels


def lists_of_stop_words(code: str, chance: random.Random) -> list[str]:
    """Make up sentences of the stop words that spaCy has for a language, if any (MIT licence).

    Treebanks of one source, such as laws, lack many of a language's commonest words.
    """
    try:
        module = importlib.import_module(f"spacy.lang.{code}.stop_words")
    except ModuleNotFoundError:
        return []
    words = sorted(module.STOP_WORDS)
    if len(words) < STOP_WORDS_IN_A_LIST:
        return []
    return [" ".join(chance.sample(words, STOP_WORDS_IN_A_LIST)) for _ in range(N_LISTS)]


def some_words(text: str, chance: random.Random) -> str:
    """Cut a part out of a sentence; without spaces, some characters."""
    words = text.split(" ")
    if len(words) > 6:
        n_words = chance.randint(4, min(len(words), 25))
        start = chance.randint(0, len(words) - n_words)
        return " ".join(words[start : start + n_words])
    if len(words) <= 2 and len(text) > 20:
        n_characters = chance.randint(10, min(60, len(text)))
        start = chance.randint(0, len(text) - n_characters)
        return text[start : start + n_characters]
    return text


def train(texts: Sequence[str], labels: Sequence[int], languages: tuple[str, ...]) -> Identifier:
    """Train the classifier, one batch after the other on one thread, and round it to int8."""
    torch.manual_seed(SEED)
    chance, numbers = random.Random(SEED), np.random.default_rng(SEED)  # noqa: S311
    table = nn.EmbeddingBag(N_ROWS, SIZE, mode="mean", sparse=True)
    nn.init.uniform_(table.weight, -0.5 / SIZE, 0.5 / SIZE)
    scores = nn.Linear(SIZE, len(languages))
    nn.init.zeros_(scores.weight)
    optimizer = torch.optim.Adagrad([*table.parameters(), *scores.parameters()], lr=RATE)
    counts = np.bincount(labels, minlength=len(languages))
    weights = 1 / counts[np.array(labels)]
    n_steps = len(texts) // BATCH
    for epoch in range(EPOCHS):
        order = numbers.choice(len(texts), len(texts), p=weights / weights.sum())
        total = 0.0
        for step in range(n_steps):
            for group in optimizer.param_groups:
                group["lr"] = RATE * (1 - (epoch * n_steps + step) / (EPOCHS * n_steps))
            chosen = order[step * BATCH : (step + 1) * BATCH]
            rows = [ngram_rows(letters_of(some_words(texts[i], chance)), N_ROWS) for i in chosen]
            kept = [i for i, found in enumerate(rows) if len(found)]
            starts = np.cumsum([0, *(len(rows[i]) for i in kept)])[:-1]
            means = table(
                torch.from_numpy(np.concatenate([rows[i] for i in kept])).long(),
                torch.from_numpy(starts),
            )
            gold = torch.tensor([labels[chosen[i]] for i in kept])
            loss = nn.functional.cross_entropy(scores(means), gold)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total / n_steps:.4f}", flush=True)
    return rounded(table, scores, languages)


def rounded(table: nn.EmbeddingBag, scores: nn.Linear, languages: tuple[str, ...]) -> Identifier:
    """Round the table to int8; the few largest numbers are cut off."""
    values: NDArray[np.float32] = table.weight.detach().numpy()
    scale = np.quantile(np.abs(values), 0.9995, axis=0) / 127
    small = np.clip(np.rint(values / scale), -127, 127).astype(np.int8)
    matrix = (scale[:, None] * scores.weight.detach().numpy().T).astype(np.float32)
    return Identifier(languages, small, matrix, scores.bias.detach().numpy())


def write(identifier: Identifier, path: Path) -> None:
    """Write the classifier."""
    np.savez_compressed(
        path,
        languages=np.array(" ".join(identifier.languages)),
        table=identifier.table,
        matrix=identifier.matrix,
        bias=identifier.bias,
    )
    print(f"{path}: {path.stat().st_size:,} bytes, {len(identifier.languages)} languages")


def score(sources: Mapping[str, list[tuple[Path, str]]], identifier: Identifier, n: int) -> None:
    """Print how often the language of dev sentences of over five words is found."""
    chance = random.Random(SEED)  # noqa: S311
    codes = identifier.languages
    n_all = n_right = 0
    shares = []
    print("| language | sentences | right, % | mistaken for |\n|---|---|---|---|")
    for code, folders in sources.items():
        read = read_texts(folders[0][0], "dev", "")
        found = [text for text, n_words in read if n_words > MORE_THAN_WORDS]
        chance.shuffle(found)
        guesses = [codes[int(identifier.log_probs(text).argmax())] for text in found[: n or None]]
        wrong = Counter(guess for guess in guesses if guess != code)
        right = len(guesses) - wrong.total()
        n_all, n_right = n_all + len(guesses), n_right + right
        shares.append(100 * right / len(guesses))
        mistaken = ", ".join(f"{one} {count}" for one, count in wrong.most_common(3))
        print(f"| {code} | {len(guesses)} | {shares[-1]:.1f} | {mistaken} |")
    print(f"\n{n_right:,} of {n_all:,} sentences: {100 * n_right / n_all:.2f}%; ", end="")
    print(f"mean over {len(shares)} languages {np.mean(shares):.2f}%")


def main() -> None:
    """Train or score."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = options.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train")
    training.add_argument("target", type=Path)
    scoring = commands.add_parser("score")
    scoring.add_argument("--sentences", type=int, default=0, help="of each language at most")
    for command in (training, scoring):
        command.add_argument("sources", nargs="+")
    given = options.parse_args()
    sources = sources_of(given.sources)
    if given.command == "train":
        torch.set_num_threads(1)
        write(train(*read_training(sources), tuple(sources)), given.target)
    else:
        score(sources, load_identifier(), given.sentences)


if __name__ == "__main__":
    main()
