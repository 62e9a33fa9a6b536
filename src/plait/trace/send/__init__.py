"""Spans to any OTLP endpoint or Langfuse: what goes out, in what form, what waits."""
