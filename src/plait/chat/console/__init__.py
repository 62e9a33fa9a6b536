"""The console of `plait chat`: interactive at a terminal, or `-p` for programs."""
