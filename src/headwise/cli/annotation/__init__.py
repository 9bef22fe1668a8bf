"""Commands for those who annotate: what to look at, and the workbench to do it."""
