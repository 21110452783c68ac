"""The one core: load, decide by the rules, save. It knows no transport and no SQL."""
