/*
 * A tool of another kind beside ours: it wraps some functions, as tools for MPI do, and counts. Linked into
 * the semantics program; `say` writes what it counted.
 */
#include "cases.h"

static long sends, receives, waits, reductions;

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator)
{
    sends++;
    return PMPI_Send(data, count, type, to, tag, communicator);
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
             MPI_Status *status)
{
    receives++;
    return PMPI_Recv(data, count, type, from, tag, communicator, status);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    __atomic_fetch_add(&waits, 1, __ATOMIC_RELAXED);
    return PMPI_Waitall(count, requests, statuses);
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op operation,
                  MPI_Comm communicator)
{
    reductions++;
    return PMPI_Allreduce(in, out, count, type, operation, communicator);
}

int MPI_Finalize(void)
{
    say("tool: %ld sends %ld receives %ld waits %ld reductions", sends, receives, waits, reductions);
    return PMPI_Finalize();
}
