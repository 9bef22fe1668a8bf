"""A package, so that its tests share one browser, which ends before other tests start."""
