"""Edits of sessions: each operation computes a plan, which is checked, applied and can be undone.

`plan` has the values, `operations` the verbs of an archive, one module each the operations
themselves, `check` the rules a written session must follow, `journal` what makes undo possible.
"""
