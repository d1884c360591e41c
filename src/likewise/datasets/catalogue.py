"""The static facts of the twelve benchmarks of Bao et al. (2018), in one table.

Numbers and words only: this module must not know where files lie or how they are fetched.
"""

from dataclasses import dataclass

__all__ = ["CATALOGUE", "Entry"]


@dataclass(frozen=True)
class Entry:
    """What is known of a benchmark before any file is opened.

    Attributes
    ----------
    rows, dims : int
        Shape of the table.
    positives : int
        Number of rows of class +1.
    positive_class : str
        What class +1 means in the source.
    origin : str
        Where the table comes from.
    openml_id : int or None
        Identifier of the same table on OpenML; None if OpenML does not hold it in this form.
    openml_note : str
        How the copy on OpenML differs; for a set without `openml_id`, why it cannot be used.
    has_multiclass : bool
        Whether the source has more than two classes, kept beside the two.
    """

    rows: int
    dims: int
    positives: int
    positive_class: str
    origin: str
    openml_id: int | None = None
    openml_note: str = ""
    has_multiclass: bool = False


CATALOGUE: dict[str, Entry] = {
    "adult": Entry(
        48_842, 123, 11_687, "income > 50K", "LIBSVM a9a + a9a.t, from UCI Adult", openml_id=1430
    ),
    "banana": Entry(
        5_300,
        2,
        2_376,
        "label +1",
        "banana, Rätsch IDA benchmark",
        openml_id=1460,
        openml_note="features may be rounded to three digits",
    ),
    "cod-rna": Entry(
        50_000,
        8,
        16_686,
        "label +1",
        "LIBSVM cod-rna, random subset of the training file (Uzilov et al. 2006)",
        openml_note="its codrna (id 351) is not this subset",
    ),
    "higgs": Entry(
        7_500,
        28,
        3_988,
        "signal",
        "UCI HIGGS, 7,500 rows",
        openml_note="its higgs (id 23512) is a different, 98,050-row subset",
    ),
    "ijcnn1": Entry(
        49_990,
        22,
        4_853,
        "label +1",
        "LIBSVM ijcnn1, training + validation file (IJCNN 2001 challenge)",
        openml_note="its ijcnn joins further files (191,681 rows)",
    ),
    "magic": Entry(19_020, 10, 12_332, "gamma", "UCI MAGIC Gamma Telescope", openml_id=1120),
    "phishing": Entry(
        11_055,
        68,
        6_157,
        "label 1 (Result = 1)",
        "LIBSVM phishing, from UCI Phishing Websites",
        openml_note="its PhishingWebsites (id 4534) has the 30 raw features",
    ),
    "phoneme": Entry(
        5_404,
        5,
        1_586,
        "oral",
        "ELENA phoneme",
        openml_id=1489,
        openml_note="features are standardized",
    ),
    "spambase": Entry(4_601, 57, 1_813, "spam", "UCI Spambase", openml_id=44),
    "susy": Entry(
        10_000,
        18,
        4_591,
        "signal",
        "UCI SUSY, 10,000 rows",
        openml_note="no copy of this subset is known there",
    ),
    "w8a": Entry(
        49_749,
        300,
        1_479,
        "label +1",
        "LIBSVM w8a, training file (Platt 1998)",
        openml_note="no copy of this file is known there",
    ),
    "waveform": Entry(
        5_000,
        21,
        1_657,
        "class 0 against classes 1 and 2",
        "UCI Waveform Database Generator (Version 1)",
        openml_id=4551,
        has_multiclass=True,
    ),
}
