"""Scheme relight: transponders that survive a failure are tuned to other fibers, in a mode that reaches."""
