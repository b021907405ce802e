"""Energies of simple cubic lithium at two lattice constants, in a basis of atomic orbitals."""

from ase import Atoms
from gpaw import GPAW
from gpaw.mpi import world

lithium = Atoms("Li", pbc=True)
lithium.calc = GPAW(gpts=(8, 8, 8), kpts=(4, 4, 4), mode="lcao", basis="dzp", txt=None)
if world.rank == 0:
    print(f"ranks {world.size}")
for length in (2.6, 2.65):
    lithium.set_cell((length, length, length))
    energy = lithium.get_potential_energy()
    if world.rank == 0:
        print(f"energy of {length:.2f} {energy:.12f}\niterations {lithium.calc.get_number_of_iterations()}")
