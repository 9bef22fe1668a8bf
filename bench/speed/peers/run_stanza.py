"""Stanza: train briefly and parse a file. Runs in its own environment."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.speed.peers.common import main, timed_run


def train(folder: Path, data: Path) -> None:
    """Train the parser in the sizes of its defaults, without vectors, for a few steps on dev."""
    source = str(data / "dev.conllu")
    sizes = ["--lang", "en", "--shorthand", "en_ewt", "--no_pretrain", "--batch_size", "500"]
    steps = ["--max_steps", "10", "--eval_interval", "10"]
    files = ["--train_file", source, "--eval_file", source]
    where = ["--save_dir", str(folder), "--save_name", "model.pt"]
    (folder / "resources.json").write_text('{"en": {"packages": {}}}')  # nothing was downloaded
    command = [sys.executable, "-m", "stanza.models.parser", "--mode", "train"]
    subprocess.run([*command, *files, *sizes, *steps, *where], check=True)


def run(model: Path, source: Path, target: Path, what: str) -> dict[str, float]:
    """Parse gold tokens with their gold tags."""
    import stanza
    import torch
    from stanza.utils.conll import CoNLL

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))

    def load() -> Any:
        return stanza.Pipeline(
            lang="en",
            dir=str(model),
            processors="depparse",
            depparse_pretagged=True,
            depparse_model_path=str(model / "model.pt"),
            depparse_forward_charlm_path=None,
            depparse_backward_charlm_path=None,
            depparse_pretrain_path=None,
            allow_unknown_language=True,
            download_method=None,
            use_gpu=False,
            verbose=False,
        )

    def parse(pipeline: Any) -> int:
        document = pipeline(CoNLL.conll2doc(str(source)))
        CoNLL.write_doc2conll(document, str(target))
        return int(document.num_words)

    return timed_run(load, parse)


if __name__ == "__main__":
    main(train, run)
