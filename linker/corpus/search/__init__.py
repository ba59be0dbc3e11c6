"""Search in a corpus: exact scores, top-k selection, fusion, filters."""
