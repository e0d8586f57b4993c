/*
 * Ranks with one fault each that a finding is about, and the same ones repaired.
 * findings SECONDS CASE            the program with the fault
 * findings SECONDS CASE-repaired   the same without it
 * findings SECONDS balanced        ranks that all do the same
 *
 * A case is named for its kind of finding, with `-last` for one at the end of MPI. Ranks sleep where they
 * would work, so that a loaded machine decides little. Prints what ranks lost by their own clocks: `lost_s`;
 * of some calls at most that.
 */
#include "findings.h"

/* A step of a rank's work, s. */
static const double step_s = 0.01;

int rank, ranks;
double seconds, lost_s, some[VALUES], others[VALUES];
/* What ranks do last, before they end MPI. */
static void (*at_end)(void);

static int rounds(double each_s) { return (int)(seconds / each_s) + 1; }

/* What only some ranks do, while others wait for them. */
KEPT static void prepare(void)
{
    SLEEP(step_s);
    STAY;
}

KEPT void work(void)
{
    SLEEP(step_s);
    STAY;
}

KEPT static void late_sender(void)
{
    for (int round = 0; round < rounds(step_s); round++) {
        if (rank == 0) {
            prepare();
            for (int to = 1; to < ranks; to++)
                MPI_Send(some, 1, MPI_DOUBLE, to, 1, MPI_COMM_WORLD);
        } else {
            WAITS(MPI_Recv(others, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
    }
}

KEPT static void early_sender(void)
{
    for (int round = 0; round < rounds(step_s); round++) {
        if (rank == 0) {
            for (int to = 1; to < ranks; to++)
                MPI_Send(some, 1, MPI_DOUBLE, to, 1, MPI_COMM_WORLD);
        } else {
            WAITS(MPI_Recv(others, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        work();
    }
}

/* Rank 1 receives late; a third rank has no part in it. */
KEPT static void late_receiver(void)
{
    for (int round = 0; round < rounds(step_s) && rank < 2; round++) {
        if (rank == 0) {
            WAITS(MPI_Ssend(some, 1, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD));
        } else {
            prepare();
            MPI_Recv(others, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

KEPT static void early_receiver(void)
{
    MPI_Request request;
    for (int round = 0; round < rounds(step_s) && rank < 2; round++) {
        if (rank == 1)
            MPI_Irecv(others, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &request);
        work();
        if (rank == 0)
            WAITS(MPI_Ssend(some, 1, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD));
        else
            MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

KEPT static void uneven_parts(void)
{
    for (int round = 0; round < rounds(step_s); round++) {
        if (rank == ranks - 1) {
            prepare();
            MPI_Allreduce(some, others, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        } else {
            WAITS(MPI_Allreduce(some, others, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        }
    }
}

KEPT static void even_parts(void)
{
    for (int round = 0; round < rounds(step_s); round++) {
        work();
        WAITS(MPI_Allreduce(some, others, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    }
}

/* Of the input so many ranks read a part each. */
#define READ(parts)                                                                                          \
    do {                                                                                                     \
        SLEEP(0.5 * seconds / (parts));                                                                      \
        STAY;                                                                                                \
    } while (0)

KEPT static void read_input(void) { READ(1); }
KEPT static void read_part(void) { READ(ranks); }

/* What is waited here is no fault of the input or the output. */
KEPT static void solve(void)
{
    for (int round = 0; round < rounds(2 * step_s); round++) {
        work();
        MPI_Allreduce(some, others, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* Rank 0 reads for all, once. */
KEPT static void input_by_one(void)
{
    if (rank == 0) {
        read_input();
        MPI_Bcast(some, VALUES, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    } else {
        WAITS(MPI_Bcast(some, VALUES, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    }
    solve();
}

KEPT static void input_by_all(void)
{
    read_part();
    WAITS(MPI_Allgather(some, 1, MPI_DOUBLE, others, 1, MPI_DOUBLE, MPI_COMM_WORLD));
    solve();
}

/* Rank 0 writes for all, last of all. */
KEPT static void write_output(void)
{
    if (rank == 0)
        SLEEP(0.5 * seconds);
    STAY;
}

KEPT static void write_part(void)
{
    SLEEP(0.5 * seconds / ranks);
    STAY;
}

KEPT static void output_by_one(void)
{
    solve();
    at_end = write_output;
}

KEPT static void output_by_all(void)
{
    solve();
    at_end = write_part;
}

/* Each rank works on what the one before it has sent, round and round. */
KEPT static void one_after_the_other(void)
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, last = rounds(step_s * ranks);
    for (int round = 0; round < last; round++) {
        if (rank > 0 || round > 0)
            WAITS(MPI_Recv(others, 1, MPI_DOUBLE, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        work();
        if (rank + 1 < ranks || round + 1 < last)
            MPI_Send(some, 1, MPI_DOUBLE, next, 3, MPI_COMM_WORLD);
    }
}

KEPT static void all_at_once(void)
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    for (int round = 0; round < rounds(step_s); round++) {
        work();
        WAITS(MPI_Sendrecv(some, 1, MPI_DOUBLE, next, 3, others, 1, MPI_DOUBLE, before, 3, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE));
    }
}

/* All ranks but 0 send in each round of three steps, rank 1 one step later than the others. */
KEPT static void send_results(double begin_s)
{
    for (int round = 0; round < rounds(3 * step_s); round++) {
        double from_s = begin_s + 3 * step_s * round;
        SLEEP_UNTIL(from_s + (rank == 1 ? step_s : 0));
        MPI_Send(some, 1, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD);
    }
    SLEEP_UNTIL(begin_s + 3 * step_s * rounds(3 * step_s));
}

KEPT static void handle_result(void)
{
    SLEEP(step_s);
    STAY;
}

/* Rank 0 takes the results of the others, in the order of the argument, and works on each. */
#define TAKE_RESULTS(source, begin_s)                                                                        \
    for (int round = 0; round < rounds(3 * step_s); round++) {                                               \
        SLEEP_UNTIL((begin_s) + 3 * step_s * round);                                                         \
        for (int one = 1; one < ranks; one++) {                                                              \
            WAITS(MPI_Recv(others, 1, MPI_DOUBLE, source, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));            \
            handle_result();                                                                                 \
        }                                                                                                    \
    }

/* All ranks have one clock. */
static double begin_for_all(void)
{
    double begin_s = wall() + step_s;
    MPI_Bcast(&begin_s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return begin_s;
}

KEPT static void results_by_rank(void)
{
    double begin_s = begin_for_all();
    if (rank == 0)
        TAKE_RESULTS(one, begin_s)
    else
        send_results(begin_s);
}

KEPT static void results_as_they_come(void)
{
    double begin_s = begin_for_all();
    if (rank == 0)
        TAKE_RESULTS(MPI_ANY_SOURCE, begin_s)
    else
        send_results(begin_s);
}

KEPT static void balanced(void)
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    for (int round = 0; round < rounds(step_s); round++) {
        work();
        WAITS(MPI_Sendrecv(some, VALUES, MPI_DOUBLE, next, 6, others, VALUES, MPI_DOUBLE, before, 6,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        WAITS(MPI_Allreduce(some, others, FEW, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    }
}

/* Rank 0 hands out parts of the work, one for each request. */
KEPT static void hand_out(int parts)
{
    for (int part = 0; part < parts; part++) {
        MPI_Status from;
        WAITS(MPI_Recv(others, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &from));
        MPI_Send(some, 1, MPI_DOUBLE, from.MPI_SOURCE, 8, MPI_COMM_WORLD);
    }
}

KEPT static void work_on_parts(int parts)
{
    for (int part = 0; part < parts; part++) {
        MPI_Send(some, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
        MPI_Recv(others, 1, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work();
    }
}

KEPT static void parts_on_demand(void)
{
    if (rank == 0)
        hand_out(rounds(step_s) * (ranks - 1));
    else
        work_on_parts(rounds(step_s));
    STAY;
}

KEPT static void parts_divided(void)
{
    for (int part = 0; part < rounds(step_s); part++)
        work();
    STAY;
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"mpi-late-sender", late_sender},
    {"mpi-late-sender-repaired", early_sender},
    {"mpi-late-receiver", late_receiver},
    {"mpi-late-receiver-repaired", early_receiver},
    {"mpi-imbalance", uneven_parts},
    {"mpi-imbalance-repaired", even_parts},
    {"mpi-serial-phase", input_by_one},
    {"mpi-serial-phase-repaired", input_by_all},
    {"mpi-serial-phase-last", output_by_one},
    {"mpi-serial-phase-last-repaired", output_by_all},
    {"mpi-serial-chain", one_after_the_other},
    {"mpi-serial-chain-repaired", all_at_once},
    {"mpi-small-messages", value_by_value},
    {"mpi-small-messages-repaired", all_values},
    {"mpi-groupable-collectives", sum_by_sum},
    {"mpi-groupable-collectives-repaired", all_sums},
    {"mpi-repeated-setup", communicator_each},
    {"mpi-repeated-setup-repaired", one_communicator},
    {"mpi-idle-rank", parts_on_demand},
    {"mpi-idle-rank-repaired", parts_divided},
    {"mpi-small-accesses", element_by_element},
    {"mpi-small-accesses-repaired", many_elements},
    {"mpi-much-data", all_of_each},
    {"mpi-much-data-repaired", few_of_each},
    {"mpi-polls", look_each},
    {"mpi-polls-repaired", look_seldom},
    {"mpi-wrong-order", results_by_rank},
    {"mpi-wrong-order-repaired", results_as_they_come},
    {"balanced", balanced},
};

int main(int argc, char **argv)
{
    void (*run)(void) = NULL;
    const char *wanted = argc > 2 ? argv[2] : "balanced";
    double all_s = 0, begin_s, wall_s;
    seconds = seconds_argument(argc, argv, 1, 0.5);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++)
        if (strcmp(cases[at].name, wanted) == 0)
            run = cases[at].run;
    if (run == NULL || ranks < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    begin_s = wall();
    run();
    wall_s = wall() - begin_s;
    MPI_Reduce(&lost_s, &all_s, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    /* All the others are at the end while rank 0 does what they do not. */
    begin_s = wall();
    if (at_end != NULL)
        at_end();
    if (at_end == write_output)
        all_s += (ranks - 1) * (wall() - begin_s);
    if (rank == 0)
        printf("{\"program\":\"mpi-findings\",\"case\":\"%s\",\"wall_s\":%.6f,\"lost_s\":%.6f}\n", wanted,
               wall_s, all_s);
    MPI_Finalize();
    return 0;
}
