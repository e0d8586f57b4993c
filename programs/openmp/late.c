/*
 * Who is late for a team, and why. Argument 1: which; argument 2: seconds of work; argument 3: threads,
 * where that is not part of the case.
 *
 *   serial    between regions the first thread works alone; in each of them all do the same, and the first
 *             one more
 *   loops     two loops in a row: for one the first thread is late for one reason, for the other for
 *             another one
 *   halves    of four threads two have more to do, and come together
 *   paths     one construct, opened from three places of one function that it is inlined in, and from two
 *             calls of
 *             one that is not: how often each is executed is known
 *   barriers  one construct with barriers, opened from two places in turn
 *   holder    what the thread does that holds a critical section for which the other waits
 *
 * Each thread times its functions by its processor's clock and the wall's, so a thread that lost its
 * processor can be told from one that had more to do.
 */
#include "../truth.h"
#include <omp.h>
#include <string.h>

#define MOST 16

enum part { SERIAL, COMMON, EXTRA, FIRST, SECOND, LONGER, INSIDE, BEFORE, PARTS };
static const char *const names[PARTS] = {"serial_part", "common_part", "extra_part", "first_reason",
                                         "second_reason", "longer_part", "inside_section", "before_section"};

static struct {
    double wall[PARTS], cpu[PARTS], waited;
    char space[56];
} threads[MOST];

#define PART(function, part)                                                                                 \
    KEPT static void function(double seconds)                                                                \
    {                                                                                                        \
        int me = omp_get_thread_num();                                                                       \
        double since = wall(), cpu = thread_cpu(), end = cpu + seconds;                                      \
        uint64_t x = (uint64_t)me;                                                                           \
        do                                                                                                   \
            BURN(x, 5 * UNIT);                                                                               \
        while (thread_cpu() < end);                                                                          \
        kept_result = x;                                                                                     \
        threads[me].wall[part] += wall() - since;                                                            \
        threads[me].cpu[part] += thread_cpu() - cpu;                                                         \
    }

PART(serial_part, SERIAL)
PART(common_part, COMMON)
PART(extra_part, EXTRA)
PART(first_reason, FIRST)
PART(second_reason, SECOND)
PART(longer_part, LONGER)
PART(inside_section, INSIDE)
PART(before_section, BEFORE)

/* Waits for the team, and times that. */
static void meet(void)
{
    double since = wall();
#pragma omp barrier
    threads[omp_get_thread_num()].waited += wall() - since;
}

static void serial(double seconds)
{
    int rounds = 40;
    for (int i = 0; i < rounds; i++) {
        serial_part(seconds * 0.7 / rounds);
#pragma omp parallel
        {
            common_part(seconds * 0.15 / rounds);
            if (omp_get_thread_num() == 0)
                extra_part(seconds * 0.15 / rounds);
            meet();
        }
    }
}

static void loops(double seconds)
{
    int rounds = 30;
#pragma omp parallel
    for (int i = 0; i < rounds; i++) {
        if (omp_get_thread_num() == 0)
            first_reason(seconds * 0.25 / rounds);
        meet();
        if (omp_get_thread_num() == 0)
            second_reason(seconds * 0.75 / rounds);
        else
            common_part(seconds * 0.1 / rounds);
        double since = wall();
#pragma omp barrier
        threads[omp_get_thread_num()].waited += wall() - since;
    }
}

static void halves(double seconds)
{
    int rounds = 20;
    double each = seconds / rounds;
#pragma omp parallel
    for (int i = 0; i < rounds; i++) {
        int me = omp_get_thread_num();
        common_part(each * 0.2);
        if (me >= 2)
            longer_part(each * 0.6);
        meet();
    }
}

/* A few microseconds: the regions follow each other closely. */
KEPT static void short_part(void)
{
    uint64_t x = kept_result;
    BURN(x, UNIT / 4);
    kept_result = x;
}

INLINED void construct(void)
{
#pragma omp parallel
    short_part();
}

static unsigned opened[5];

KEPT static void opens_one(int which)
{
    construct();
    opened[which]++;
}

KEPT static void three_places(void)
{
    construct();
    opened[0]++;
    construct();
    opened[1]++;
    construct();
    opened[2]++;
}

static void paths(double seconds)
{
    for (double end = wall() + seconds; wall() < end;) {
        three_places();
        opens_one(3);
        opens_one(4);
        opens_one(4);
    }
}

enum { BARRIERS = 40, IN_A_ROW = 50 };

KEPT static void many_barriers(int which)
{
#pragma omp parallel
    for (int i = 0; i < BARRIERS; i++) {
        short_part();
#pragma omp barrier
    }
    opened[which]++;
}

static void barriers(double seconds)
{
    for (double end = wall() + seconds; wall() < end;) {
        for (int i = 0; i < IN_A_ROW; i++)
            many_barriers(0);
        for (int i = 0; i < IN_A_ROW; i++)
            many_barriers(1);
    }
}

static void holder(double seconds)
{
    int rounds = 12;
#pragma omp parallel num_threads(2)
    for (int i = 0; i < rounds; i++) {
        int me = omp_get_thread_num();
#pragma omp barrier
        if (me == 0) {
            /* The other one comes a moment later. */
#pragma omp critical(the_section)
            inside_section(seconds * 0.5 / rounds);
            before_section(seconds * 0.5 / rounds);
        } else {
            double begin = wall();
            while (wall() < begin + 0.002)
                ;
            double since = wall();
#pragma omp critical(the_section)
            threads[me].waited += wall() - since;
        }
    }
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "serial";
    double seconds = seconds_argument(argc, argv, 2, 1);
    int team = !strcmp(which, "halves") ? 4 : argc > 3 ? atoi(argv[3]) : 2;
    omp_set_dynamic(0);
    omp_set_num_threads(team);
    if (!strcmp(which, "serial"))
        serial(seconds);
    else if (!strcmp(which, "loops"))
        loops(seconds);
    else if (!strcmp(which, "halves"))
        halves(seconds);
    else if (!strcmp(which, "paths"))
        paths(seconds);
    else if (!strcmp(which, "barriers"))
        barriers(seconds);
    else if (!strcmp(which, "holder"))
        holder(seconds);
    else
        return 2;
    printf("{\"case\":\"%s\",\"opened\":[%u,%u,%u,%u,%u],\"threads\":[", which, opened[0], opened[1],
           opened[2], opened[3], opened[4]);
    for (int i = 0; i < team; i++) {
        printf("%s{\"waited_s\":%.6f", i ? "," : "", threads[i].waited);
        for (int part = 0; part < PARTS; part++)
            printf(",\"%s\":{\"wall_s\":%.6f,\"cpu_s\":%.6f}", names[part], threads[i].wall[part],
                   threads[i].cpu[part]);
        printf("}");
    }
    printf("]}\n");
    return 0;
}
