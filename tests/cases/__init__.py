"""Faults reported of tools for this job, reduced; each must come out right here."""
