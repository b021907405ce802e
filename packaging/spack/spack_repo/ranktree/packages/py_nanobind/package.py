"""A release of nanobind that Spack's own recipe does not have."""

from spack.package import version
from spack_repo.builtin.packages.py_nanobind.package import PyNanobind as BuiltinPyNanobind


class PyNanobind(BuiltinPyNanobind):
    """nanobind 3.1, from its wheel, which has no compiled part."""

    version(
        "3.1.0",
        sha256="96984dbe8154ffb86e653b1b60aaeed6985c710c5e75ad0279eb87943c66292d",
        url="https://files.pythonhosted.org/packages/py3/n/nanobind/nanobind-3.1.0-py3-none-any.whl",
        expand=False,
    )
