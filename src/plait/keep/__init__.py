"""Session files to a store that outlives the client's cleanup, and back, byte for byte."""
