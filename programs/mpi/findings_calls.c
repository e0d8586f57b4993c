/* Cases of `findings` whose fault is how MPI is called: too often, for too little, or for too much. */
#include "findings.h"

/* Some 800 000 values a second. */
KEPT void value_by_value(void)
{
    int count = (int)(8e5 * seconds);
    double since_s = wall();
    for (int i = 0; i < count && rank < 2; i++) {
        if (rank == 0)
            MPI_Send(&some[i % VALUES], 1, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD);
        else
            MPI_Recv(&others[i % VALUES], 1, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    lost_s = rank < 2 ? wall() - since_s : 0;
}

KEPT void all_values(void)
{
    int count = (int)(2e5 * seconds) / VALUES;
    for (int i = 0; i < count && rank < 2; i++) {
        if (rank == 0)
            MPI_Send(some, VALUES, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD);
        else
            MPI_Recv(others, VALUES, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work();
    }
}

/* Up to so many rounds, unless they take too long where ranks lack processors: rank 0 decides. */
static int goes_on(int round, int rounds, double since_s)
{
    return rank == 0 && round + 1 < rounds && wall() < since_s + 0.5 * seconds;
}

KEPT void sum_by_sum(void)
{
    double since_s = wall();
    others[FEW - 1] = 1;
    for (int round = 0; others[FEW - 1] > 0; round++) {
        some[FEW - 1] = goes_on(round, (int)(3e4 * seconds), since_s);
        for (int one = 0; one < FEW; one++)
            MPI_Allreduce(&some[one], &others[one], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    lost_s = wall() - since_s;
}

KEPT static uint64_t a_little(uint64_t x)
{
    BURN(x, 20000);
    return x;
}

KEPT void all_sums(void)
{
    uint64_t x = 1;
    double since_s = wall();
    others[FEW - 1] = 1;
    for (int round = 0; others[FEW - 1] > 0; round++) {
        some[FEW - 1] = goes_on(round, (int)(3e4 * seconds), since_s);
        MPI_Allreduce(some, others, FEW, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        x = a_little(x);
    }
    others[0] += (double)(x & 1);
}

/* Each step has a communicator of its own. */
KEPT static double sum_in_own(double part)
{
    MPI_Comm own;
    double sum, since_s = wall();
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &own);
    lost_s += wall() - since_s;
    MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, own);
    since_s = wall();
    MPI_Comm_free(&own);
    lost_s += wall() - since_s;
    return sum;
}

KEPT void communicator_each(void)
{
    double since_s = wall();
    uint64_t x = 1;
    for (int round = 0, goes = 1; goes; round++) {
        x = a_little(x);
        goes = sum_in_own(goes_on(round, (int)(3e4 * seconds), since_s)) > 0;
    }
    others[0] += (double)(x & 1);
}

KEPT void one_communicator(void)
{
    double since_s = wall(), more, sum = 1;
    MPI_Comm own;
    uint64_t x = 1;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &own);
    for (int round = 0; sum > 0; round++) {
        x = a_little(x);
        more = goes_on(round, (int)(3e4 * seconds), since_s);
        MPI_Allreduce(&more, &sum, 1, MPI_DOUBLE, MPI_SUM, own);
    }
    MPI_Comm_free(&own);
    others[0] += (double)(x & 1);
}

/* Looks for messages, of which there are none. */
KEPT static int look(void)
{
    int found;
    double since_s = wall();
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    lost_s += wall() - since_s;
    return found;
}

/* Steps of a fraction of a microsecond, after so many of which it looks. */
KEPT static void looking(int steps)
{
    double end_s = wall() + 0.5 * seconds;
    uint64_t x = 1;
    for (long round = 0; wall() < end_s; round++) {
        BURN(x, 100);
        if (round % steps == 0)
            x += (uint64_t)look();
    }
    others[0] += (double)(x & 1);
}

KEPT void look_each(void) { looking(1); STAY; }

KEPT void look_seldom(void) { looking(1000); STAY; }

/* Changes this many elements of the next rank's memory. */
KEPT static void change_next(MPI_Win window, int elements)
{
    int next = (rank + 1) % ranks;
    double since_s = wall();
    MPI_Put(some, elements, MPI_DOUBLE, next, 0, elements, MPI_DOUBLE, window);
    MPI_Win_flush(next, window);
    lost_s += wall() - since_s;
}

/* Steps of a microsecond, after so many of which as many elements change. */
KEPT static void changing(int steps)
{
    double *memory, end_s;
    uint64_t x = 1;
    MPI_Win window;
    MPI_Win_allocate(sizeof others, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_lock_all(0, window);
    end_s = wall() + 0.5 * seconds;
    for (long round = 0; wall() < end_s; round++) {
        BURN(x, 1000);
        if (round % steps == 0)
            change_next(window, steps);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    others[0] += (double)(x & 1);
}

KEPT void element_by_element(void) { changing(1); STAY; }

KEPT void many_elements(void) { changing(VALUES); STAY; }

enum { LARGE = 1 << 17 };

/* All ranks get so much of what each has. */
KEPT static void gather_all(const double *part, double *whole, int elements)
{
    double since_s = wall();
    MPI_Allgather(part, elements, MPI_DOUBLE, whole, elements, MPI_DOUBLE, MPI_COMM_WORLD);
    lost_s += wall() - since_s;
}

KEPT static void gathering(int elements)
{
    double *part = calloc(LARGE, sizeof *part), *whole = calloc((size_t)ranks * LARGE, sizeof *whole);
    double since_s = wall(), more, sum = 1;
    uint64_t x = 1;
    for (int round = 0; sum > 0; round++) {
        x = a_little(x);
        gather_all(part, whole, elements);
        more = goes_on(round, (int)(2e3 * seconds), since_s);
        MPI_Allreduce(&more, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    others[0] += whole[0] + (double)(x & 1);
    free(part);
    free(whole);
}

KEPT void all_of_each(void) { gathering(LARGE); STAY; }

KEPT void few_of_each(void) { gathering(FEW); STAY; }
