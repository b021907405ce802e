/* `random_program SEED STEPS [OPTIONS]`: STEPS steps of the program of SEED. Letters of OPTIONS: w windows, h hardware
 * splits, t three threads, each with a program of its own and without windows. Rank 0 prints "running" to stderr after
 * its first step and, in the end, how many KiB its memory has grown since a fifth of the steps, how many results were
 * compared, and a number for the program. A wrong result ends all ranks with the exit code 3. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../resident.h"
#include "program.h"

enum { kThreads = 3, kChoices = 20, kFirst = 12 };

static long steps;
static int rank;

static void begin_step(Program* program) {
  program->dice = mixed(program->seed * 0x632be59bd9b4e019U + (uint64_t)program->step);
}

static void step(Program* program) {
  begin_step(program);
  const int choice = draw(program, kChoices);
  const Group* const group = &program->groups[draw(program, kSlots)];
  if (choice < 4 && program->makes) {
    change_communicators(program);
  } else if (choice < 5) {
    complete_all(program);
  } else if (group->comm == MPI_COMM_NULL) {
    return;
  } else if (choice < 10) {
    move_data(program, group);
  } else if (choice < 14) {
    reduce_data(program, group);
  } else if (choice < 17) {
    send_around(program, group);
  } else if (choice == 17) {
    access_windows(program, group);
  } else if (choice == 18) {
    gather_from_neighbors(program, group);
  } else {
    synchronize(program, group);
  }
}

static void* run(void* argument) {
  Program* const program = argument;
  for (program->step = 0; program->step < steps; ++program->step) {
    if (program->step == steps / 5) program->resident = resident_kib();
    step(program);
    if (program->step == 0 && rank == 0) fputs("running\n", stderr);
  }
  complete_all(program);
  for (int slot = 1; slot < kSlots; ++slot) free_group(program, slot);
  return NULL;
}

/* Their communicators are made before: Open MPI 4.1.4 hangs where threads make them at the same time, and MPICH 4.0.2
 * did so in 2 of some 40 runs with what tests preload (tests/helpers/nap.c), in none of 20 without it. */
static void run_threads(Program programs[]) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    begin_with(&programs[i], copy);
    for (programs[i].step = -kFirst; programs[i].step < 0; ++programs[i].step) {
      begin_step(&programs[i]);
      change_communicators(&programs[i]);
    }
  }
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, run, &programs[i]);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_free(&programs[i].groups[0].comm);
}

int main(int argc, char** argv) {
  static Program programs[kThreads];
  const char* const options = argc > 3 ? argv[3] : "";
  const int with_threads = strchr(options, 't') != NULL;
  int provided = 0, size = 0;
  MPI_Init_thread(&argc, &argv, with_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 3 || size > kRanks || (with_threads && provided != MPI_THREAD_MULTIPLE)) MPI_Abort(MPI_COMM_WORLD, 2);
  const uint64_t seed = strtoull(argv[1], NULL, 10);
  steps = atol(argv[2]);
  make_kinds();
  for (int i = 0; i < kThreads; ++i) {
    programs[i].seed = mixed(seed * kThreads + (uint64_t)i);
    programs[i].with_windows = !with_threads && strchr(options, 'w') != NULL;
    programs[i].with_hardware = strchr(options, 'h') != NULL;
  }
  if (with_threads) {
    run_threads(programs);
  } else {
    begin_with(&programs[0], MPI_COMM_WORLD);
    programs[0].makes = 1;
    run(&programs[0]);
  }
  free_kinds();
  long results = 0;
  uint64_t print = 0;
  for (int i = 0; i < kThreads; ++i) {
    results += programs[i].results;
    print = mixed(print + programs[i].print);
  }
  if (rank == 0) {
    printf("grown %ld KiB, %ld results are right, program %016llx\n", resident_kib() - programs[0].resident, results,
           (unsigned long long)print);
  }
  fflush(stdout);
  return MPI_Finalize();
}
