"""From scores and beliefs to a choice: folds, held-out evidence, penalties, calibration."""
