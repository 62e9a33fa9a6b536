"""Jobs that hooks left to spans that are sent: what is new and final in each session's log."""
