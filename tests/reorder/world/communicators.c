/* Communicators and groups made from MPI_COMM_WORLD, and what hangs on it: names, info, attributes, error handlers. */
#include <string.h>

#include "report.h"

static void report_communicator(const char* name, MPI_Comm comm) {
  int rank, size, sum = 0, same;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&my_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Comm_compare(comm, MPI_COMM_WORLD, &same);
  printf("%d %s %d of %d, ranks' sum %d, compared %d%d%d%d\n", my_rank, name, rank, size, sum, same == MPI_IDENT,
         same == MPI_CONGRUENT, same == MPI_SIMILAR, same == MPI_UNEQUAL);
}

static void derived(void) {
  MPI_Comm comm;
  MPI_Request request;
  report_communicator("world", MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm), report_communicator("dup", comm), MPI_Comm_free(&comm);
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm), report_communicator("with info", comm),
      MPI_Comm_free(&comm);
  MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  report_communicator("idup", comm), MPI_Comm_free(&comm);
  MPI_Comm_split(MPI_COMM_WORLD, my_rank % 2, -my_rank, &comm), report_communicator("split", comm),
      MPI_Comm_free(&comm);
  MPI_Comm_split(MPI_COMM_WORLD, my_rank == 0 ? MPI_UNDEFINED : 0, 0, &comm);
  if (comm != MPI_COMM_NULL) report_communicator("others", comm), MPI_Comm_free(&comm);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, ranks - my_rank, MPI_INFO_NULL, &comm);
  report_communicator("node", comm), MPI_Comm_free(&comm);
}

static void groups(void) {
  MPI_Group world, some;
  MPI_Comm comm, other;
  int rank, all[64], mapped[64], evens[64], n = 0;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_rank(world, &rank);
  report("group rank", rank);
  for (int i = 0; i < ranks; i += 2) evens[n++] = i;
  MPI_Group_incl(world, n, evens, &some);
  for (int i = 0; i < ranks; ++i) all[i] = i;
  MPI_Group_translate_ranks(world, ranks, all, some, mapped);
  report_all("translated", mapped, ranks);
  MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
  if (comm != MPI_COMM_NULL) {
    report_communicator("create", comm);
    MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &other), report_communicator("create_group", other),
        MPI_Comm_free(&other);
    MPI_Comm_group(comm, &world), MPI_Group_compare(world, some, &rank), report("same group", rank == MPI_IDENT);
    MPI_Group_free(&world), MPI_Comm_free(&comm);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
  }
  MPI_Group_free(&some), MPI_Group_free(&world);
}

static void intercommunicators(void) {
  if (ranks < 2) return;
  MPI_Comm half, inter, merged;
  const int upper = my_rank >= ranks / 2;
  int size, inner, flag;
  MPI_Comm_split(MPI_COMM_WORLD, upper, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : ranks / 2, 9, &inter);
  MPI_Comm_remote_size(inter, &size), report("remote", size);
  MPI_Comm_test_inter(inter, &flag), report("inter", flag);
  MPI_Comm_test_inter(MPI_COMM_WORLD, &flag), report("world inter", flag);
  MPI_Comm_rank(half, &inner);
  MPI_Intercomm_merge(inter, upper, &merged), report_communicator("merged", merged);
  MPI_Comm_free(&merged), MPI_Comm_free(&inter), MPI_Comm_free(&half);
}

static int copied;

static int copy(MPI_Comm comm, int key, void* extra, void* value, void* result, int* flag) {
  (void)comm, (void)key, (void)extra;
  ++copied;
  *(void**)result = (char*)value + 1;
  return *flag = 1, MPI_SUCCESS;
}

static int deleted(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)extra;
  report("deleted", (long)(char*)value);
  return MPI_SUCCESS;
}

static void attributes(void) {
  const int known[] = {MPI_TAG_UB,        MPI_HOST,         MPI_IO,    MPI_WTIME_IS_GLOBAL,
                       MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE, MPI_APPNUM};
  int key, flag, *tag = NULL;
  char* value = NULL;
  for (int i = 0; i < 7; ++i) {
    void* unused;
    MPI_Comm_get_attr(MPI_COMM_WORLD, known[i], (void*)&unused, &flag), report("known", flag);
  }
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, (void*)&tag, &flag), report("tag", *tag);
  MPI_Comm_create_keyval(copy, deleted, &key, NULL);
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, (void*)&value, &flag), report("not set", flag);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, (char*)NULL + 40);
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, (void*)&value, &flag), report("set", flag ? (long)value : -1);
  MPI_Comm dup;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_get_attr(dup, key, (void*)&value, &flag), report("copied", flag ? (long)value : -1),
      report("copies", copied);
  MPI_Comm_free(&dup);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, (void*)&value, &flag), report("gone", flag);
  MPI_Comm_free_keyval(&key);
}

static void names(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Info info;
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length), printf("%d name %s\n", my_rank, name);
  MPI_Comm_set_name(MPI_COMM_WORLD, "all ranks");
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length), printf("%d name %s\n", my_rank, name);
  MPI_Comm_get_info(MPI_COMM_WORLD, &info), MPI_Comm_set_info(MPI_COMM_WORLD, info), MPI_Info_free(&info);
}

static int handled;

static void handle(MPI_Comm* comm, int* code, ...) {
  int class, same;
  MPI_Error_class(*code, &class);
  MPI_Comm_compare(*comm, MPI_COMM_WORLD, &same);
  ++handled;
  report("handler of the world", same == MPI_IDENT);
}

static void errors(void) {
  MPI_Errhandler own, found;
  int code, class, datum = 0;
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_Comm_create_errhandler(handle, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found), report("own handler", found == own), MPI_Errhandler_free(&found);
  code = MPI_Send(&datum, 1, MPI_INT, ranks, 1, MPI_COMM_WORLD), MPI_Error_class(code, &class);
  report("no such rank", class == MPI_ERR_RANK);
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
  report("handled", handled);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  code = MPI_Bcast(&datum, 1, MPI_INT, ranks + 3, MPI_COMM_WORLD), MPI_Error_class(code, &class);
  report("no such root", class == MPI_ERR_ROOT);
  code = MPI_Comm_free(&world), MPI_Error_class(code, &class);
  report("not to be freed", class == MPI_ERR_COMM && world == MPI_COMM_WORLD);
  code = MPI_Comm_split(MPI_COMM_NULL, 0, 0, &world), MPI_Error_class(code, &class);
  report("no communicator", class == MPI_ERR_COMM);
  MPI_Comm dup;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_get_errhandler(dup, &found), report("inherited", found == MPI_ERRORS_RETURN);
  MPI_Comm_free(&dup);
  MPI_Errhandler_free(&own);
}

static void handles(void) {
  MPI_Comm parent;
#ifndef MPI_ABI /* it has no handles of Fortran */
  report("to Fortran and back", MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
#endif
  MPI_Comm_get_parent(&parent), report("no parent", parent == MPI_COMM_NULL);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  derived();
  groups();
  intercommunicators();
  attributes();
  names();
  errors();
  handles();
  return end();
}
