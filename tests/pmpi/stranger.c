/* What programs do besides calling MPI: `stranger fork` starts children between collectives, `stranger threads` calls
 * MPI from four threads at a time. Each rank prints one line a fact. */
#include <mpi.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kRounds = 40, kThreads = 4 };

extern char** environ;

static int rank, size;

static long sum_on(MPI_Comm comm) {
  long total = 0;
  for (long round = 0; round < kRounds; ++round) {
    long mine = round + rank, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, comm);
    MPI_Bcast(&all, 1, MPI_LONG, (int)(round % size), comm);
    MPI_Barrier(comm);
    total += all;
  }
  return total;
}

static int exit_code_of(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A child that exits at once, one that becomes this program without MPI, and one of the shell's. */
static void start_children(char* self) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(40 + rank);
  printf("%d forked %d\n", rank, exit_code_of(child));
  char* const words[] = {self, "idle", NULL};
  const int failed = posix_spawn(&child, self, NULL, NULL, words, environ);
  printf("%d spawned %d\n", rank, failed ? -2 : exit_code_of(child));
  printf("%d system %d\n", rank, WEXITSTATUS(system("exit 5")));
}

static void* in_thread(void* comm) { return (void*)sum_on(*(MPI_Comm*)comm); }

static void call_from_threads(void) {
  pthread_t threads[kThreads];
  MPI_Comm comms[kThreads];
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, in_thread, &comms[i]);
  for (int i = 0; i < kThreads; ++i) {
    void* total = NULL;
    pthread_join(threads[i], &total);
    printf("%d thread %d: %ld\n", rank, i, (long)total);
    MPI_Comm_free(&comms[i]);
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (strcmp(argv[1], "idle") == 0) return 6;
  const int with_threads = strcmp(argv[1], "threads") == 0;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, with_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  if (with_threads && provided != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 77);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("%d before %ld\n", rank, sum_on(MPI_COMM_WORLD));
  with_threads ? call_from_threads() : start_children(argv[0]);
  printf("%d after %ld\n", rank, sum_on(MPI_COMM_WORLD));
  fflush(stdout);
  return MPI_Finalize();
}
