"""SNDlib, the library of survivable network design instances: native text and XML in, a topology of circuits out.

Orlowski, Pióro, Tomaszewski, Wessäly, SNDlib 1.0, Networks 55(3), 2010.
"""
