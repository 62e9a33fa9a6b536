"""Sessions as files to keep and share: transcripts, sites and interchange formats."""
