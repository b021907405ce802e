/* A libcuda.so.1 with one device, whose primary context is active where FAKE_CUDA_ACTIVE is set. */
#include <stdlib.h>

int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}

int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  *flags = 0;
  *active = device == 0 && getenv("FAKE_CUDA_ACTIVE") != NULL;
  return 0;
}
