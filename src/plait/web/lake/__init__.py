"""A lake to pages and JSON, each person seeing what the policy says."""
