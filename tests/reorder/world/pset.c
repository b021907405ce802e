/* Sessions: the launcher's rank 0 alone looks at the world's process set, which is local (MPI 4.0 §11.3). */
#include <string.h>

#include "report.h"

int main(void) {
  const char* launched = getenv("PMIX_RANK");
  if (launched == NULL) launched = getenv("PMI_RANK");
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  if (strcmp(launched, "0") == 0) {
    MPI_Group group;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_size(group, &ranks), report("size", ranks);
    MPI_Group_free(&group);
  }
  fflush(stdout);
  return MPI_Session_finalize(&session);
}
