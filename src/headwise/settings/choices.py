"""Values that several settings share: closed sets of names, and numbers with bounds."""

from typing import Annotated, Literal

from msgspec import Meta

Decoder = Literal["greedy", "mst", "eisner"]
ArcWeights = Literal["log-probability", "probability"]
Punctuation = Literal["none", "ptb", "conllx", "ud"]
TagColumn = Literal["xpos", "upos", "upos+xpos", "none"]
PredictedTag = Literal["upos", "xpos"]
Column = Literal["lemma", "upos", "xpos", "feats", "heads", "labels"]
"""What a parser fills in, and what it may keep from its input."""
PredictedColumn = Literal["upos", "xpos", "feats", "lemma"]
Mark = Literal["upos", "xpos", "feats", "treebank"]
Format = Literal["conllu", "conllx"]
Input = Literal["auto", "conllu", "conllx", "text", "lines", "tokens"]
Dtype = Literal["float32", "bfloat16"]
Precision = Literal["int8", "float32"]

Count = Annotated[int, Meta(ge=1, le=1_000_000)]
Size = Annotated[int, Meta(ge=1, le=16_384)]
Share = Annotated[float, Meta(ge=0.0, lt=1.0)]
Rate = Annotated[float, Meta(gt=0.0, le=10.0)]
