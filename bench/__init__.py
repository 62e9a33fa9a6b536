"""Generated archives and measured runs: how fast Plait is, beside others."""
