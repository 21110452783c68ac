"""The shell: one command a verb, one file a noun. It parses, asks the verbs, and shows; it decides nothing."""
