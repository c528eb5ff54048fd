"""Losses of time between a step and a finished run: stragglers, failures, checkpoints, silent corruption."""
