"""A session to proof: resumed offline by the user's own client, beside what Plait says of it."""

from plait.cli.prove.proof import Proof, proof_words, proved

__all__ = ["Proof", "proof_words", "proved"]
