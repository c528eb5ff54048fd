"""Light in glass: lines, amplifiers, noise, and which modes close on which lightpath."""
