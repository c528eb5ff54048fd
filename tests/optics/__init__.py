"""Tests of optics."""
