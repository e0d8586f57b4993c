/* Processes search for orbits and send what they find through a pipe each; their parent counts it. */
#include <poll.h>
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

static NOINLINE long take(int from, double *sum)
{
    struct orbit orbits[32];
    size_t got = 0, rest = 0;
    do {
        ssize_t more = read(from, (char *)orbits + got, rest ? rest : sizeof orbits);
        if (more <= 0)
            break;
        got += more;
        rest = (sizeof *orbits - got % sizeof *orbits) % sizeof *orbits;
    } while (rest != 0);
    long count = got / sizeof *orbits;
    for (long i = 0; i < count; i++)
        *sum += orbits[i].points[POINTS - 1];
    return count;
}

static NOINLINE long collect(const int *pipes, int workers, double *sum)
{
    long count = 0;
    struct pollfd *polled = calloc(workers, sizeof *polled);
    for (int worker = 0; worker < workers; worker++)
        polled[worker] = (struct pollfd){.fd = pipes[worker], .events = POLLIN};
    for (int open = workers; open > 0;) {
        poll(polled, workers, -1);
        for (int worker = 0; worker < workers; worker++) {
            if (polled[worker].fd < 0 || polled[worker].revents == 0)
                continue;
            long taken = take(polled[worker].fd, sum);
            count += taken;
            if (taken == 0) {
                close(polled[worker].fd);
                polled[worker].fd = -1;
                open--;
            }
        }
    }
    free(polled);
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
