"""Transport between sites: packets, flows under loss and windows, lossless ports, and what a job then has of a link."""
