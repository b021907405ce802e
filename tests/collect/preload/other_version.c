/* A libranktree_mpi of another version: with -DNEWER one that has the handshake, and another table of functions. */
#include <stdbool.h>
#include <stdint.h>

#ifdef NEWER
struct functions {
  uint32_t size, version;
  uint64_t layout;
};

bool ranktree_collect_handshake(struct functions* functions);
bool ranktree_collect_handshake(struct functions* functions) {
  functions->size = 8;
  functions->version = 99;
  functions->layout = 7;
  return false;
}
#else
int ranktree_collect_call(const void* operation);
int ranktree_collect_call(const void* operation) { return operation != 0; }
#endif
