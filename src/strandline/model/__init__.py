"""The nouns: frozen values, valid from birth, standard library only."""
