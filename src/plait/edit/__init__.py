"""Sessions to plans that change them: computed first, checked, applied, undone."""
