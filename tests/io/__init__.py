# ruff: noqa: A005  (tests mirror the package: these are the tests of likewise.io)
