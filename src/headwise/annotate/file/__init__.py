"""The file that is annotated: its sentences, the edits to them, the journal, saving."""
