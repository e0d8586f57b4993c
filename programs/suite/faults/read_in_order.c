/* Processes search for orbits and send what they find through a pipe each; their parent counts it. */
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"

enum { STARTS = 9000, POINTS = 24 };

struct orbit {
    int start;
    float points[POINTS];
};

static NOINLINE void follow(struct orbit *orbit, int start)
{
    double place = start % 1013;
    orbit->start = start;
    for (int i = 0; i < POINTS; i++) {
        place = refine(place, 500);
        orbit->points[i] = (float)place;
    }
}

static void search(int worker, int workers, int starts, int to)
{
    FILE *file = fdopen(to, "w");
    for (int start = worker; start < starts; start += workers) {
        struct orbit orbit;
        follow(&orbit, start);
        if (fwrite(&orbit, sizeof orbit, 1, file) != 1)
            _exit(1);
    }
    fclose(file);
    _exit(0);
}

static NOINLINE long take_all(int from, double *sum)
{
    FILE *file = fdopen(from, "r");
    struct orbit orbit;
    long count = 0;
    while (fread(&orbit, sizeof orbit, 1, file) == 1) {
        *sum += orbit.points[POINTS - 1];
        count++;
    }
    fclose(file);
    return count;
}

static NOINLINE long collect(const int *pipes, int workers, double *sum)
{
    long count = 0;
    for (int worker = 0; worker < workers; worker++)
        count += take_all(pipes[worker], sum); /* FAULT: the pipes of the others are full and let them wait */
    return count;
}

int main(int argc, char **argv)
{
    int workers = threads_asked(argc, argv), starts = STARTS * processors();
    int *pipes = calloc(workers, sizeof *pipes);
    for (int worker = 0; worker < workers; worker++) {
        int ends[2];
        if (pipe(ends) != 0)
            return 1;
        if (fork() == 0)
            search(worker, workers, starts, ends[1]);
        close(ends[1]);
        pipes[worker] = ends[0];
    }
    double sum = 0;
    long count = collect(pipes, workers, &sum);
    while (wait(NULL) > 0)
        ;
    printf("%ld orbits, %.2f\n", count, sum / count);
    free(pipes);
    return 0;
}
