"""Speed: a continental network, survivable meshes beside the plain ILP, lines of GNPy beside ours: `make bench`."""
