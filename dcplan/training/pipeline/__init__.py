"""Pipelines: stages, schedules, microbatches in flight, and the line of stages over sites."""
