"""A training step: memory, compute, collectives, pipeline, and what crosses between sites."""
