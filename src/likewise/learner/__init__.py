"""Class scores learned from pairs: features, linear scores, cross-fitting, calibration."""
