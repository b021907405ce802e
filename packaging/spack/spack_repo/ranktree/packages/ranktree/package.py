"""Spack's recipe: docs/how-to/install.md."""

from spack.package import depends_on, extends, license, variant, version
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Ranktree(CMakePackage):
    """MPI programs that follow the machine's tree of switches, nodes, packages and cores: trace an unmodified program,
    place each rank, rerun. `spack dev-build ranktree@0.1.0` builds the checkout in the current folder."""

    license("BSD-3-Clause", checked_by="ranktree")

    version("0.1.0")

    variant("mpi", default=True, description="Serve programs of the MPI that Spack builds")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("py-nanobind@3.1:", type="build")
    depends_on("hwloc@2.5:")
    depends_on("libyaml")
    depends_on("zlib-api")
    depends_on("mpi", when="+mpi")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-numpy@1.24:", type=("build", "run"))
    depends_on("py-rich@13:", type=("build", "run"))
    extends("python")

    def cmake_args(self):
        """The one MPI of the specification, not those on PATH, nor SimGrid."""
        arguments = [
            self.define("RANKTREE_PYTHON", True),
            self.define("RANKTREE_TESTS", False),
            self.define_from_variant("RANKTREE_MPI", "mpi"),
            self.define("RANKTREE_SMPICXX", False),
            self.define("Python_EXECUTABLE", self.spec["python"].command.path),
        ]
        if self.spec.satisfies("+mpi"):
            mpi = self.spec["mpi"]
            arguments.append(self.define("RANKTREE_MPIS", f"{mpi.name.replace('-', '_')}={mpi.mpicc}"))
        return arguments
