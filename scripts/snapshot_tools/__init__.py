"""The parts of `record_snapshot`: how the data under `fixtures/snapshot` is made."""
