"""Derives the device tables of lockforge from what vendors and the PCI ID project publish."""
