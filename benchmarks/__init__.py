"""Speed and memory against named rivals: ``python -m benchmarks [NAME ...] [--quick]``.

Every number is measured when the command runs, next to its rival and on the same machine.
"""
