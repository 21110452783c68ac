"""Sessions, state and memory for AI agents: one append-only history per profile, and every view of it."""
