/* Collective calls: results, data in place, functions of the program's own, requests of them. */
#include "cases.h"

static int folded;

/* Not commutative: the second digit string after the first. */
static void fold(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    folded++;
    for (int one = 0; one < *count; one++)
        ((int *)inout)[one] = ((int *)in)[one] * 10 + ((int *)inout)[one];
}

static void complete(MPI_Request *request)
{
    static int way;
    int flag = 0, at = -1;
    switch (way++ % 3) {
    case 0:
        MPI_Wait(request, MPI_STATUS_IGNORE);
        break;
    case 1:
        while (!flag)
            MPI_Test(request, &flag, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Waitany(1, request, &at, MPI_STATUS_IGNORE);
        CHECK(at == 0);
    }
    CHECK(*request == MPI_REQUEST_NULL);
}

static void blocking(void)
{
    int one = rank + 1, two[2] = {-1, -1}, sum = -1, pair[2] = {10 * rank, 10 * rank + 1};
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
    int sent = rank == 1 ? 5 : -1;
    MPI_Bcast(&sent, 1, MPI_INT, 1, MPI_COMM_WORLD);
    CHECK(sent == 5);
    MPI_Gather(&one, 1, MPI_INT, two, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(rank != 0 || (two[0] == 1 && two[1] == 2));
    MPI_Scatter(pair, 1, MPI_INT, &sum, 1, MPI_INT, 1, MPI_COMM_WORLD);
    CHECK(sum == 10 + rank);
    MPI_Allgather(&one, 1, MPI_INT, two, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(two[0] == 1 && two[1] == 2);
    two[rank] = 50 + rank;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, two, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(two[0] == 50 && two[1] == 51);
    MPI_Alltoall(pair, 1, MPI_INT, two, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(two[0] == rank && two[1] == 10 + rank);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, two, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(two[0] == 10 * rank && two[1] == 10 * rank + 1);
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
    CHECK(rank != 1 || sum == 3);
    if (rank == 0) {
        sum = one;
        MPI_Reduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_PROD, 0, MPI_COMM_WORLD);
        CHECK(sum == 2);
    } else {
        MPI_Reduce(&one, NULL, 1, MPI_INT, MPI_PROD, 0, MPI_COMM_WORLD);
    }
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(sum == 2);
    sum = one;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == 3);
    MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == (rank == 0 ? 1 : 3));
    sum = -9;
    MPI_Exscan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == (rank == 0 ? -9 : 1));
    MPI_Reduce_scatter_block(pair, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == 10 + 2 * rank);
    int counts[2] = {1, 1};
    MPI_Reduce_scatter(pair, &sum, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == 10 + 2 * rank);
}

static void of_different_sizes(void)
{
    int mine[3] = {rank, rank, rank}, all[3] = {-1, -1, -1};
    int counts[2] = {1, 2}, places[2] = {0, 1}, none[2] = {0, 0};
    MPI_Gatherv(mine, rank + 1, MPI_INT, all, counts, places, MPI_INT, 1, MPI_COMM_WORLD);
    CHECK(rank != 1 || (all[0] == 0 && all[1] == 1 && all[2] == 1));
    int source[3] = {7, 8, 9};
    MPI_Scatterv(source, counts, places, MPI_INT, all, rank + 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(all[0] == (rank == 0 ? 7 : 8));
    MPI_Allgatherv(mine, rank + 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[0] == 0 && all[2] == 1);
    int get_counts[2] = {rank + 1, rank + 1}, get_places[2] = {0, rank + 1}, got[4] = {0};
    int send_places[2] = {0, 1};
    MPI_Alltoallv(source, counts, send_places, MPI_INT, got, get_counts, get_places, MPI_INT,
                  MPI_COMM_WORLD);
    CHECK(got[0] == (rank == 0 ? 7 : 8));
    MPI_Alltoallv(source, none, none, MPI_INT, got, none, none, MPI_INT, MPI_COMM_WORLD);
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    int bytes[2] = {0, sizeof(int)}, ones[2] = {1, 1};
    MPI_Alltoallw(source, ones, bytes, types, got, ones, bytes, types, MPI_COMM_WORLD);
    CHECK(got[0] == 7 + rank && got[1] == 7 + rank);
}

static void started(void)
{
    MPI_Request request;
    int one = rank + 1, two[2], sum, pair[2] = {10 * rank, 10 * rank + 1}, sent = rank == 0 ? 6 : 0;
    int counts[2] = {1, 1}, places[2] = {0, 1};
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    complete(&request);
    MPI_Ibcast(&sent, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    complete(&request);
    CHECK(sent == 6);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    complete(&request);
    CHECK(sum == 3);
    MPI_Iallgather(&one, 1, MPI_INT, two, 1, MPI_INT, MPI_COMM_WORLD, &request);
    complete(&request);
    CHECK(two[0] == 1 && two[1] == 2);
    MPI_Ialltoallv(pair, counts, places, MPI_INT, two, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
    complete(&request);
    CHECK(two[0] == rank && two[1] == 10 + rank);
    MPI_Ireduce(&one, &sum, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD, &request);
    complete(&request);
    CHECK(rank != 1 || sum == 3);
    MPI_Igather(&one, 1, MPI_INT, two, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    complete(&request);
    CHECK(rank != 0 || two[1] == 2);
    MPI_Iscatterv(pair, counts, places, MPI_INT, &sum, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    complete(&request);
    CHECK(sum == rank);
    MPI_Ireduce_scatter(pair, &sum, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    complete(&request);
    CHECK(sum == 10 + 2 * rank);
    MPI_Iexscan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    complete(&request);
    CHECK(rank == 0 || sum == 1);
}

static void of_neighbours(void)
{
    int periodic = 1, size = 2, got[2] = {-1, -1};
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, ring);
    CHECK(got[0] == partner && got[1] == partner);
    MPI_Request request;
    MPI_Ineighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, ring, &request);
    complete(&request);
    MPI_Comm_free(&ring);
}

void collectives(void)
{
    say("collectives");
    blocking();
    of_different_sizes();
    started();
    of_neighbours();
    MPI_Op operation;
    int number = rank + 1, result = -1;
    MPI_Op_create(fold, 0, &operation);
    MPI_Allreduce(&number, &result, 1, MPI_INT, operation, MPI_COMM_WORLD);
    CHECK(result == 12);
    MPI_Reduce(&number, &result, 1, MPI_INT, operation, 0, MPI_COMM_WORLD);
    CHECK(rank != 0 || result == 12);
    MPI_Op_free(&operation);
    say("folded %d times", folded);
    MPI_Datatype column;
    int matrix[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, got[3] = {0};
    MPI_Type_vector(3, 1, 3, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Status status = {0};
    MPI_Sendrecv(&matrix[1], 1, column, partner, 1, got, 3, MPI_INT, partner, 1, MPI_COMM_WORLD, &status);
    say_status("column", &status);
    CHECK(got[0] == 1 && got[1] == 4 && got[2] == 7);
    MPI_Type_free(&column);
}
