"""Parallelism plans of a job: all there are, and the best by each objective."""
