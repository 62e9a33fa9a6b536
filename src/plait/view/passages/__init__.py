"""A conversation to passages: typed values, one for each thing told, made once for every sink."""
