"""Inequalities that every design keeps: found, rounded, and the cut loop that adds them."""
