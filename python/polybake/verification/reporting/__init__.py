"""Reports for people, pull requests and machines."""
