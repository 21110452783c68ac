"""The verbs that decide: pure functions over model values. No clock, no I/O, no await, no randomness (law 1)."""
