"""How fast, side by side with the raw driver; and how right, on generated cases."""
