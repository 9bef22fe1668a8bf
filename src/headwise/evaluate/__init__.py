"""How good are the trees (Sec. 4)?

Read `punctuation` for the words that are left out, `pairs` for what is compared with what, `scores`
for the figures, `report` for the tables, and `significance` for whether two parsers differ by more
than chance. Output made from raw text has words and sentences of its own: `passages` finds the text
that both files share, `align` the words that belong together, and `raw` the figures.
"""
