"""Speed: a continental network for the planner, and lines of GNPy beside ours. `make bench` runs it."""
