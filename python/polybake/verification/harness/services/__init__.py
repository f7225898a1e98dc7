"""Services over HTTP, which the same golden cases judge as generated clients."""
