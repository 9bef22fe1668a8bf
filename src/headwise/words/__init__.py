"""S = (w0, w1, ..., wN), Sec. 3.1: sentences, the files they live in, and their ids."""
