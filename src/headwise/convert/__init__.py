"""Treebanks of other kinds: bracketed phrase structure and CoNLL-X become what headwise reads.

Read `brackets` for the trees as their files have them, `heads` for which child of a phrase is its
head, `labels` for what an arc is called, `dependencies` for the sentence that comes of it, `conll`
for CoNLL-X and CoNLL-U, and `splits` for the files of Sec. 4.1.
"""
