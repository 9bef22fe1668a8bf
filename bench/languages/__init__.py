"""Every column of many treebanks: one recipe, trained side by side, scored on dev."""
