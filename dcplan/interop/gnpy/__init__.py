"""GNPy 3 (Telecominfraproject/oopt-gnpy): topology and equipment in its JSON, without its YANG namespaces."""
