"""Tests of one module each, without network, disk or clock."""
