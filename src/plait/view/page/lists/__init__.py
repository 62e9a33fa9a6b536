"""Sessions as pages list them: the list, its choice, the column beside a page, the first pages."""
