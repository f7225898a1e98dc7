"""What a person, a pull request or a machine is shown of a report, and what has changed since."""
