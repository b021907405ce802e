// Prints "rank PUs threads-PUs set-PUs": the affinity of this process; of a thread that has requested all PUs; of
// the main thread after it has bound itself to the last PU it had. Needs no MPI.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 8192 };

static void print(const unsigned char* mask) {
  const char* separator = " ";
  for (int pu = 0; pu < kBytes * 8; ++pu) {
    if ((mask[pu / 8] >> (pu % 8) & 1) == 0) continue;
    printf("%s%d", separator, pu);
    separator = ",";
  }
}

static void* request_all(void* mask) {
  memset(mask, 0xff, kBytes);
  if (sched_setaffinity(0, kBytes, mask) != 0 || sched_getaffinity(0, kBytes, mask) != 0) exit(3);
  return NULL;
}

int main(void) {
  static unsigned char before[kBytes] __attribute__((aligned(8))), thread[kBytes] __attribute__((aligned(8))),
      after[kBytes] __attribute__((aligned(8)));
  const char* rank = getenv("PMI_RANK");
  if (sched_getaffinity(0, kBytes, (cpu_set_t*)before) != 0) return 1;
  pthread_t requester;
  if (pthread_create(&requester, NULL, request_all, thread) != 0 || pthread_join(requester, NULL) != 0) return 2;
  printf("%s", rank == NULL ? "-" : rank);
  print(before);
  print(thread);
  int last = 0;
  for (int pu = 0; pu < kBytes * 8; ++pu) {
    if (before[pu / 8] >> (pu % 8) & 1) last = pu;
  }
  memset(after, 0, kBytes);
  after[last / 8] = (unsigned char)(1 << (last % 8));
  if (sched_setaffinity(0, kBytes, (cpu_set_t*)after) != 0) return 4;
  if (sched_getaffinity(0, kBytes, (cpu_set_t*)after) != 0) return 5;
  print(after);
  printf("\n");
  return 0;
}
