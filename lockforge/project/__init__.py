"""From a user's files and options to a Project and its Matrix."""
