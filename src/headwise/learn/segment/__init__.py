"""Training the segmenter, which finds sentences and words in raw text."""
