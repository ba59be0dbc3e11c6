"""WRAPresentations: sentence embeddings of tweets from labels of arguments (TACO)."""
