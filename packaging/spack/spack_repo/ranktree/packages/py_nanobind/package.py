"""A release of nanobind that Spack's own recipe does not have."""

from spack.package import version
from spack_repo.builtin.packages.py_nanobind.package import PyNanobind as BuiltinPyNanobind


class PyNanobind(BuiltinPyNanobind):
    """nanobind 3.1, built as its earlier releases."""

    version("3.1.0", sha256="6661e3dc1434d78781ccf7913442d90361dab395c3424efadb63bbb6ddea7ea3")
