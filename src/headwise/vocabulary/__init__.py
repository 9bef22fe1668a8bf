"""Strings and their ids: words, letters, subwords, marks; a sentence as arrays."""
