"""Sentences (S = w0, w1, ..., wN; Sec. 3.1), CoNLL files and JSON records."""
