"""A package, so that its pages and those of `serve` have different names."""
