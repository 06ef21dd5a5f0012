"""A trained translator is used: translations and scores."""
