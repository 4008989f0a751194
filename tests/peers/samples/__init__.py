"""Tables of calls of public packages, a sample each, in the order in which the packages were looked at."""
