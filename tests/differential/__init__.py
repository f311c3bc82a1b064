"""Rows of our locks beside what another resolver makes of the same row and the same indexes."""
