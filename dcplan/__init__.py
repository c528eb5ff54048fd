"""dcplan plans the networks between AI data centers: wavelengths, survivable routes, training step time, with proof."""

__version__ = "0.1.0"
