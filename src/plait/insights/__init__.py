"""What explains and reduces cost: cache misses, waste, context, trends, outliers and habits."""
