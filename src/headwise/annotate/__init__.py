"""The workbench: a person corrects trees while the parser keeps the rest consistent.

`headwise annotate FILE.conllu` serves it. `file` holds FILE, its journal and undo; `decode` makes
the best tree around what is fixed; `routes` puts both behind the checks of `serve`.
"""
