"""A trained translator is used: translations, links between words, scores, heat maps."""
