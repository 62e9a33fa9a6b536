"""The same talks with the real client and with `plait chat`, to how their logs compare."""
