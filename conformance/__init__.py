"""The real client's word to a verdict on ours: `make conformance`."""
