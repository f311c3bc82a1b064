"""Checks that share no code with lockforge."""
