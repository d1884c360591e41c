"""Tables, statements and models as files: what the command line reads and writes.

Tables, pairs, groups and known classes are CSV or Parquet files with ids; models are archives of
plain numbers, never pickles. Every file is written beside its goal first and moved there whole.
Nothing here computes or prints.
"""

from likewise.io.features import Features, choose_features, feature_matrix
from likewise.io.files import check_output, replacing, write_csv, write_table
from likewise.io.inputs import Inputs, read_inputs, read_inputs_of
from likewise.io.known import read_known
from likewise.io.models import Model, load, load_model, save, save_model
from likewise.io.pairs import Pairs, read_pairs
from likewise.io.tables import Table, read_table

__all__ = [
    "Features",
    "Inputs",
    "Model",
    "Pairs",
    "Table",
    "check_output",
    "choose_features",
    "feature_matrix",
    "load",
    "load_model",
    "read_inputs",
    "read_inputs_of",
    "read_known",
    "read_pairs",
    "read_table",
    "replacing",
    "save",
    "save_model",
    "write_csv",
    "write_table",
]
