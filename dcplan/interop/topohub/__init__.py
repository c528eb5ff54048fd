"""TopoHub, a repository of reference topologies as node-link JSON (Jurkiewicz, SoftwareX 24, 2023; MIT licence)."""
