"""Treebanks and word vectors, read, checked and put on the device."""
