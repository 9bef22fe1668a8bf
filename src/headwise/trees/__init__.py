"""Trees from head scores (Sec. 3.3).

What a tree is, the two maximum spanning tree algorithms of the paper, and the rule that calls them
only for greedy outputs that are not trees already. Knows no words, only score matrices
`[dependent, head]` in which slot 0 is ROOT.
"""
