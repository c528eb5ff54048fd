"""What a valid topology must also be: one module per family, each with `RULES` and `check`."""
