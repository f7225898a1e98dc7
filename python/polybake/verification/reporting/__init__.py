"""Reports for people, pull requests and machines, and the changes since an earlier report."""
