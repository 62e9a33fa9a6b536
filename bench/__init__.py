"""Benchmarks on generated archives, compared with other programs."""
