"""The experiments of the paper, one file each, and the runner that they share.

A trial is a function of its settings alone and returns a record; the runner deals trials out and
keeps their records; a picture is drawn from records and nothing else.
"""
