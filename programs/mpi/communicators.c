/* Communicators, windows and files: made, used, and given up. */
#include "cases.h"

static int copied, deleted;

static int copy(MPI_Comm from, int key, void *state, void *value, void *copy_of, int *flag)
{
    (void)from, (void)key, (void)state;
    copied++;
    *(void **)copy_of = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm from, int key, void *value, void *state)
{
    (void)from, (void)key, (void)value, (void)state;
    deleted++;
    return MPI_SUCCESS;
}

static void exchange_on(MPI_Comm communicator)
{
    int own = -1, size = -1, sum = -1;
    MPI_Comm_rank(communicator, &own);
    MPI_Comm_size(communicator, &size);
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, communicator);
    CHECK(sum == size * (size - 1) / 2);
    say("rank %d of %d", own, size);
}

static void made_of_all(void)
{
    MPI_Comm new, other;
    MPI_Group group, part;
    MPI_Request request;
    int key, how = -1, first = 0, sizes[1] = {2}, periods[1] = {0}, remains[1] = {1};
    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &how);
    MPI_Comm_dup(MPI_COMM_WORLD, &new);
    MPI_Comm_compare(MPI_COMM_WORLD, new, &how);
    CHECK(how == MPI_CONGRUENT);
    exchange_on(new);
    CHECK(MPI_Comm_free(&new) == MPI_SUCCESS && new == MPI_COMM_NULL);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    say("copied %d deleted %d", copied, deleted);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_idup(MPI_COMM_WORLD, &new, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    exchange_on(new);
    MPI_Comm_disconnect(&new);
    CHECK(new == MPI_COMM_NULL);
    /* Backwards, alone, and not at all. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &new);
    exchange_on(new);
    MPI_Comm_compare(MPI_COMM_WORLD, new, &how);
    CHECK(how == MPI_SIMILAR);
    MPI_Comm_split(new, rank, 0, &other);
    exchange_on(other);
    MPI_Comm_free(&other);
    MPI_Comm_split(new, rank == 0 ? MPI_UNDEFINED : 0, 0, &other);
    CHECK((other == MPI_COMM_NULL) == (rank == 0));
    if (other != MPI_COMM_NULL)
        MPI_Comm_free(&other);
    MPI_Comm_free(&new);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &new);
    exchange_on(new);
    MPI_Comm_free(&new);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_incl(group, 1, &first, &part);
    MPI_Comm_create(MPI_COMM_WORLD, part, &new);
    CHECK((new == MPI_COMM_NULL) == (rank != 0));
    if (new != MPI_COMM_NULL) {
        exchange_on(new);
        MPI_Comm_free(&new);
        MPI_Comm_create_group(MPI_COMM_WORLD, part, 3, &new);
        exchange_on(new);
        MPI_Comm_free(&new);
    }
    MPI_Group_free(&part);
    MPI_Group_free(&group);
    MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periods, 0, &new);
    MPI_Cart_sub(new, remains, &other);
    exchange_on(other);
    MPI_Comm_free(&other);
    MPI_Comm_free(&new);
}

static void between_groups(void)
{
    MPI_Comm own, between, merged;
    int is_inter = -1, size = -1, number = rank == 0 ? 123 : -1, got = -1;
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, partner, 5, &between);
    MPI_Comm_test_inter(between, &is_inter);
    MPI_Comm_remote_size(between, &size);
    CHECK(is_inter == 1 && size == 1);
    MPI_Bcast(&number, 1, MPI_INT, rank == 0 ? MPI_ROOT : 0, between);
    CHECK(number == 123);
    MPI_Allreduce(&rank, &got, 1, MPI_INT, MPI_SUM, between);
    CHECK(got == partner);
    MPI_Status status;
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, between, &status);
    CHECK(got == partner && status.MPI_SOURCE == 0);
    MPI_Intercomm_merge(between, rank, &merged);
    exchange_on(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&between);
    MPI_Comm_free(&own);
}

/* As often as a library would that forgets nothing: handles are used again. */
static void again_and_again(void)
{
    for (int round = 0; round < 300; round++) {
        MPI_Comm new;
        int number = rank == 0 ? round : -1;
        MPI_Comm_dup(MPI_COMM_WORLD, &new);
        MPI_Bcast(&number, 1, MPI_INT, 0, new);
        CHECK(number == round);
        MPI_Comm_free(&new);
    }
}

void communicators(void)
{
    say("communicators");
    made_of_all();
    between_groups();
    again_and_again();
}

static void windows(void)
{
    int own[4] = {rank, rank, rank, rank}, got = -1, one = 1;
    MPI_Win window;
    MPI_Win_create(own, sizeof own, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, partner, 1, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    CHECK(own[1] == partner);
    MPI_Get(&got, 1, MPI_INT, partner, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    CHECK(got == partner);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    MPI_Win_sync(window);
    CHECK(own[3] == (rank == 0 ? 2 : 1));
    MPI_Win_unlock(rank, window);
    CHECK(MPI_Win_free(&window) == MPI_SUCCESS && window == MPI_WIN_NULL);
}

static void files(void)
{
    char name[64];
    int own = rank + 40, got = -1, count = -1, unique = rank == 0 ? (int)getpid() : 0;
    MPI_File file;
    MPI_Status status = {0};
    MPI_Offset bytes = -1;
    MPI_Bcast(&unique, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/tmp/proust-mpi-semantics-%d", unique);
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file)
          == MPI_SUCCESS);
    MPI_File_write_at_all(file, rank * 4, &own, 1, MPI_INT, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == 4);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(file, partner * 4, &got, 1, MPI_INT, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == 4);
    CHECK(got == partner + 40);
    MPI_File_get_size(file, &bytes);
    CHECK(bytes == 8);
    CHECK(MPI_File_close(&file) == MPI_SUCCESS && file == MPI_FILE_NULL);
    say("no file %d", class_of(MPI_File_open(MPI_COMM_WORLD, "/nonexistent/file", MPI_MODE_RDONLY,
                                             MPI_INFO_NULL, &file)));
}

void storage(void)
{
    say("windows and files");
    windows();
    files();
}
