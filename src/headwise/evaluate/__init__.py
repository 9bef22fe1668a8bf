"""Evaluation of trees (Sec. 4).

`pairs` decides which sentences are compared, `metrics` what is right in a word, `scores` computes
the scores, `significance` tests whether two parsers differ by more than chance, and `report` writes
tables. Output made from raw text has its own words and sentences: `passages` cuts both files at the
same places, `align` matches their words, and `raw` computes the scores. `confidence` measures
calibration. `agreement` compares two annotations, neither of which is gold.
"""
