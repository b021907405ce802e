/* Transforms a plane wave, of which one coefficient is known and all others are zero, forth and back. */
#include <complex.h>
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 64, WAVE_X = 5, WAVE_Y = 11, WAVE_Z = 7 };

static double larger(double a, double b) { return a > b ? a : b; }

static fftw_complex wave(ptrdiff_t x, ptrdiff_t y, ptrdiff_t z) {
  return cexp(2 * M_PI * I * (WAVE_X * x + WAVE_Y * y + WAVE_Z * z) / SIZE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int repetitions = argc > 1 ? atoi(argv[1]) : 1;
  fftw_mpi_init();
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  ptrdiff_t rows, first;
  ptrdiff_t space = fftw_mpi_local_size_3d(SIZE, SIZE, SIZE, MPI_COMM_WORLD, &rows, &first);
  fftw_complex* data = fftw_alloc_complex((size_t)space);
  fftw_plan there = fftw_mpi_plan_dft_3d(SIZE, SIZE, SIZE, data, data, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_plan back = fftw_mpi_plan_dft_3d(SIZE, SIZE, SIZE, data, data, MPI_COMM_WORLD, FFTW_BACKWARD, FFTW_ESTIMATE);
  double worst[2] = {0, 0}, cells = (double)SIZE * SIZE * SIZE;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (ptrdiff_t i = 0; i < rows * SIZE * SIZE; ++i)
      data[i] = wave(first + i / SIZE / SIZE, i / SIZE % SIZE, i % SIZE);
    fftw_execute(there);
    for (ptrdiff_t i = 0; i < rows * SIZE * SIZE; ++i) {
      int here = first + i / SIZE / SIZE == WAVE_X && i / SIZE % SIZE == WAVE_Y && i % SIZE == WAVE_Z;
      worst[0] = larger(worst[0], cabs(data[i] / cells - here));
    }
    fftw_execute(back);
    for (ptrdiff_t i = 0; i < rows * SIZE * SIZE; ++i)
      worst[1] = larger(worst[1], cabs(data[i] / cells - wave(first + i / SIZE / SIZE, i / SIZE % SIZE, i % SIZE)));
  }
  MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("ranks %d\nforth %.3e\nback %.3e\n", ranks, worst[0], worst[1]);
  fftw_destroy_plan(there);
  fftw_destroy_plan(back);
  fftw_free(data);
  fftw_mpi_cleanup();
  MPI_Finalize();
  return 0;
}
