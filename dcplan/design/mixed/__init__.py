"""Demands of several schemes beside relight: what is retuned serves those of relight only.

A wavelength is retuned in no failure, or may be in each: the former are anchored. An anchored wavelength is lit when
healthy and, on the same slots, in every failure that its fibers survive. Where it breaks, its transponders are free
for others until it is repaired.

In every state, healthy too, `reroute` demands ride on anchored wavelengths only, anew in each failure; `one-plus-one`
demands have both ways on them, set aside in every state. `relight` demands, and those of scheme `none`, take what is
left on anchored wavelengths and all of the others. So nobody but a relight demand waits for retuning. Modules of
circuits are anchored.

A design of reroute is one in which all is anchored, and without what is anchored all may be retuned: relight costs no
more than a mixture, a mixture no more than reroute.
"""
