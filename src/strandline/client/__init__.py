"""Handles: the verbs by the names a user types, embedded or remote, awaited or blocking."""
