"""An archive to an index that can be thrown away: a catalogue and the words of every turn."""
