"""UDPipe 1 (Straka and Strakova, 2017), the other parser of the report.

    python -m bench.paper.udpipe train TRAIN DEV MODEL OPTIONS
    python -m bench.paper.udpipe predict MODEL INPUT OUTPUT

Files are plain CoNLL-U with tags. OPTIONS are those of UDPipe's parser, `name=value` separated by
semicolons; UDPipe keeps the iteration that is best on DEV. The only module here that needs
`ufal.udpipe`.
"""

import sys
from pathlib import Path

from ufal import udpipe  # type: ignore[import-untyped]

from headwise.errors import DataError
from headwise.files import whole_file


def read(path: Path) -> udpipe.Sentences:
    """Read a file with UDPipe."""
    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText(path.read_text(encoding="utf-8"))
    sentences, problem = udpipe.Sentences(), udpipe.ProcessingError()
    sentence = udpipe.Sentence()
    while reader.nextSentence(sentence, problem):
        sentences.append(sentence)
        sentence = udpipe.Sentence()
    if problem.occurred():
        raise DataError(f"UDPipe cannot read it: {problem.message}", str(path))
    return sentences


def train(train_path: Path, dev_path: Path, model_path: Path, options: str) -> None:
    """Train only a parser, no tokeniser and no tagger."""
    problem = udpipe.ProcessingError()
    data = udpipe.Trainer.train(
        "morphodita_parsito", read(train_path), read(dev_path), "none", "none", options, problem
    )
    if problem.occurred():
        raise DataError(f"UDPipe cannot train: {problem.message}", str(train_path))
    with whole_file(model_path) as stream:
        stream.write(data)


def predict(model_path: Path, input_path: Path, output_path: Path) -> None:
    """Parse a file with the tags it has."""
    model = udpipe.Model.load(str(model_path))
    if model is None:
        raise DataError("not a model of UDPipe", str(model_path), hint="train it again")
    writer = udpipe.OutputFormat.newConlluOutputFormat()
    problem = udpipe.ProcessingError()
    with whole_file(output_path) as stream:
        for sentence in read(input_path):
            if not model.parse(sentence, udpipe.Model.DEFAULT, problem):
                raise DataError(f"UDPipe cannot parse: {problem.message}", str(input_path))
            stream.write(writer.writeSentence(sentence).encode())


def main(command: str, *arguments: str) -> None:
    """Train or predict."""
    if command == "train":
        train(Path(arguments[0]), Path(arguments[1]), Path(arguments[2]), arguments[3])
    else:
        predict(Path(arguments[0]), Path(arguments[1]), Path(arguments[2]))


if __name__ == "__main__":
    main(*sys.argv[1:])
