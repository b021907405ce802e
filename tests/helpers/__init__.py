"""What tests of several folders share. Tests import it by name: `from tests.helpers.mpis import Mpi`."""
