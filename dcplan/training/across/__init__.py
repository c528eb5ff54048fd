"""What crosses between sites: sums of gradients, layers whose groups span sites, and what falls on each site."""
