"""What differs by rounding alone: plan files keep nine digits. For all checks of what a plan says of itself."""

CLOSE = 1e-6
"""Relative difference of two rates, lengths of time, widths or prices that is rounding."""
FINE = 1e-8
"""The same of what is added up by the very numbers in the file: sums, gaps, certificates."""
