"""The same conversations with the real client and with `plait chat`: how their logs compare."""
