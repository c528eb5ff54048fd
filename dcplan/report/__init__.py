"""Findings and plans as text, markdown and JSON. `view` decides what is shown, the rest draw."""
