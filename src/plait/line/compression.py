"""Zstandard: part of the standard library since Python 3.14, the same from a package before."""

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["zstd"]
