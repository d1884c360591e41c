"""What was said about rows: weak labels in and out, and folds that keep statements together."""
