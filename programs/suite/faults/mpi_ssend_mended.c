/* Traffic of a country: the first rank has one half of the towns and the reports; the others have the rest,
   and report what happened in each hour. The first rank looks for reports after each of its days. */
#include <mpi.h>

#include "../suite.h"

enum { DAYS = 110, HOURS = 24, CARS = 1900, NUMBERS = 64, REPORT = 7 };

static NOINLINE void live_through(int hour, int town, double *numbers)
{
    memset(numbers, 0, NUMBERS * sizeof *numbers);
    for (int car = 0; car < CARS; car++)
        numbers[car % NUMBERS] += refine((car * 7 + hour * 3 + town) % 19, 40);
}

static double sum_of(const double *numbers)
{
    double sum = 0;
    for (int number = 0; number < NUMBERS; number++)
        sum += numbers[number];
    return sum;
}

/* The reports that have come; at the end all that are still to come. */
static NOINLINE double take_reports(long *wanted, int is_end)
{
    double numbers[NUMBERS], sum = 0;
    int is_there = 1;
    while (*wanted > 0) {
        if (!is_end)
            MPI_Iprobe(MPI_ANY_SOURCE, REPORT, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
        if (!is_there)
            break;
        MPI_Recv(numbers, NUMBERS, MPI_DOUBLE, MPI_ANY_SOURCE, REPORT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += sum_of(numbers);
        --*wanted;
    }
    return sum;
}

/* Each report is kept until it has been taken. */
static double sent[DAYS * HOURS][NUMBERS];
static MPI_Request on_its_way[DAYS * HOURS];

static NOINLINE void send_report(int hour, const double *numbers)
{
    memcpy(sent[hour], numbers, sizeof sent[hour]);
    MPI_Isend(sent[hour], NUMBERS, MPI_DOUBLE, 0, REPORT, MPI_COMM_WORLD, &on_its_way[hour]);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long wanted = (long)(ranks - 1) * DAYS * HOURS;
    double numbers[NUMBERS], total = 0;
    for (int hour = 0; hour < DAYS * HOURS; hour++) {
        live_through(hour, rank, numbers);
        if (rank > 0)
            send_report(hour, numbers);
        else
            total += sum_of(numbers);
        if (rank == 0 && hour % HOURS == HOURS - 1)
            total += take_reports(&wanted, 0);
    }
    if (rank == 0)
        printf("%.3f\n", total + take_reports(&wanted, 1));
    else
        MPI_Waitall(DAYS * HOURS, on_its_way, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
