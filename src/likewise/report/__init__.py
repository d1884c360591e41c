"""What can be told of a classifier without labels."""
