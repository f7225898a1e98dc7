"""Numbers for steps, computed from texts: means, components, ranges."""
