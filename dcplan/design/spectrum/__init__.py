"""Channels in the spectrum of lit pairs."""
