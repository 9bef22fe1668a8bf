"""Commands about treebanks as they stand: convert them, look at their trees."""
