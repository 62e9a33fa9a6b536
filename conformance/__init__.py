"""Compare Plait with the real client: `make conformance`."""
