"""S = (w0, w1, ..., wN), Sec. 3.1: sentences, and the files they live in."""
