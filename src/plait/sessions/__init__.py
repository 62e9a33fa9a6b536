"""Sessions: discovery, names, facts, opening, families, statistics, and the index where it is fresh."""
