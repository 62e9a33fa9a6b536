"""Conversations to spans: `traces.traces_of` makes them, `waterfall.waterfall` lays one out."""
