"""A small treebank below a folder like the one that `--data` names."""

from pathlib import Path

import pytest

from headwise import Sentence


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory, ewt_sentences: list[Sentence]) -> Path:
    root = tmp_path_factory.mktemp("data")
    short = [sentence for sentence in ewt_sentences if len(sentence) <= 20]
    parts = {
        "English/train": short[:24],
        "English/dev": short[24:36],
        "English/test": short[36:44],
        "More/train": short[:5],
        "More/test": short[5:9],
    }
    for name, sentences in parts.items():
        path = root / "ud" / f"{name}.conllu"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(sentence.conllu for sentence in sentences), encoding="utf-8")
    return root
