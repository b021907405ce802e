/* The memory that a process has in use. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long resident_kib(void) {
  char line[256];
  long kib = -1;
  FILE* file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, "VmRSS:", 6) == 0) kib = atol(line + 6);
  if (file != NULL) fclose(file);
  return kib;
}
