"""Structure-aware fuzzers: `python -m fuzz --seconds 60`, or `make fuzz`."""
