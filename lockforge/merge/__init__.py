"""From the Resolutions of all Targets to one Lock, and the proof that it says the same."""
