"""Put an encoder and its steps into one graph, and write it."""
