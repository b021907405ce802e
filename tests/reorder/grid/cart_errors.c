/* Wrong arguments of ranktree_Cart_create at one rank are an error of one class on all, and leave the output alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranktree/mpi.h"

static int rank, size;
static int handled; /* calls of the error handler */

static void fail(const char* what, const char* text, int found) {
  fprintf(stderr, "rank %d: %s: %s, found %d\n", rank, what, text, found);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void on_error(MPI_Comm* where, int* code, ...) {
  (void)where;
  (void)code;
  ++handled;
}

typedef struct {
  int ndims, dims[2], periods[2], reorder;
  int without_dims, without_periods, without_output;
} Arguments;

/* All ranks pass `right`, the last one `wrong`. */
static void expect_error(const char* what, MPI_Comm comm, Arguments right, Arguments wrong, int expected) {
  const Arguments mine = rank == size - 1 ? wrong : right;
  MPI_Comm made = MPI_COMM_SELF;
  int error_class, lowest, highest;
  handled = 0;
  const int code = ranktree_Cart_create(comm, mine.ndims, mine.without_dims ? NULL : mine.dims,
                                        mine.without_periods ? NULL : mine.periods, mine.reorder,
                                        mine.without_output ? NULL : &made);
  MPI_Error_class(code, &error_class);
  MPI_Allreduce(&error_class, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&error_class, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (lowest != highest) fail(what, "error classes differ", error_class);
  if (error_class != expected) fail(what, "not the expected error class", error_class);
  if (handled != 1) fail(what, "expected one call of the error handler", handled);
  if (made != MPI_COMM_SELF) fail(what, "the output was touched", 0);
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  const Arguments right = {2, {size, 1}, {0, 1}, 1, 0, 0, 0};
  Arguments wrong = right;
  wrong.dims[0] = 0;
  expect_error("a dimension of 0", comm, right, wrong, MPI_ERR_DIMS);
  wrong.dims[0] = -size;
  expect_error("a negative dimension", comm, right, wrong, MPI_ERR_DIMS);
  wrong.dims[0] = size + 1;
  expect_error("a grid too large", comm, right, wrong, MPI_ERR_ARG);
  expect_error("a grid too large on all", comm, wrong, wrong, MPI_ERR_ARG);
  wrong = (Arguments){2, {1 << 30, 1 << 30}, {0, 0}, 1, 0, 0, 0};
  expect_error("a grid of 2^60", comm, wrong, wrong, MPI_ERR_ARG);
  wrong = right;
  wrong.ndims = -1;
  expect_error("a negative number of dimensions", comm, right, wrong, MPI_ERR_ARG);
  wrong = right;
  wrong.without_dims = 1;
  expect_error("no dims", comm, right, wrong, MPI_ERR_ARG);
  wrong = right;
  wrong.without_periods = 1;
  expect_error("no periods", comm, right, wrong, MPI_ERR_ARG);
  wrong = right;
  wrong.without_output = 1;
  expect_error("no output", comm, right, wrong, MPI_ERR_ARG);
  if (size > 1) {
    wrong = right;
    wrong.periods[0] = 1;
    expect_error("periods that differ", comm, right, wrong, MPI_ERR_ARG);
    wrong = right;
    wrong.reorder = 0;
    expect_error("reorder that differs", comm, right, wrong, MPI_ERR_ARG);
    wrong = right;
    wrong.ndims = 1;
    expect_error("numbers of dimensions that differ", comm, right, wrong, MPI_ERR_ARG);
  }
  MPI_Comm cart = MPI_COMM_NULL;
  if (ranktree_Cart_create(comm, right.ndims, right.dims, right.periods, 1, &cart) != MPI_SUCCESS) {
    fail("afterwards", "expected success", 0);
  }
  MPI_Comm_free(&cart);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  if (rank == 0) printf("errors agree\n");
  MPI_Finalize();
  return 0;
}
