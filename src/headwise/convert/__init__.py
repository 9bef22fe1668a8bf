"""Conversion of bracketed phrase-structure trees and of CoNLL-X to what headwise reads.

`brackets` reads trees, `heads` finds the head child of a phrase, and `dependencies` labels arcs and
makes the sentence. `conll` converts between CoNLL-X and CoNLL-U, `conversion` whole files, and
`splits` finds the files of Sec. 4.1.
"""
