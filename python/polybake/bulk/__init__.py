"""Work over many texts: vectors of large files, arrays fitted to a corpus, workers of clusters."""
