"""Demands that may take few routes at a time."""
