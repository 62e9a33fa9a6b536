"""Figures to what stands out in them: trends, outliers against one's own median, habits."""
