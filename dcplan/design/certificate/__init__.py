"""A bound that anyone can add up: found from duals, written down, checked by arithmetic."""
