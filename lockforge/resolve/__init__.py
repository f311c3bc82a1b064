"""From a Target and the indexes to a Resolution, or to the reasons there is none."""
