"""All benchmarks, one after the other: `make bench`."""

from bench import reading

if __name__ == "__main__":
    reading.main()
