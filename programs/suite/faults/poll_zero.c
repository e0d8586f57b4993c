/* Processes compute tiles and send them through pipes; their parent puts them together as they come. */
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"

enum { TILE = 256, TILES = 160 };

static NOINLINE void draw(double *tile, int number)
{
    for (int i = 0; i < TILE; i++)
        tile[i] = refine(number * 31 + i, 2600);
}

static void work(int worker, int workers, int tiles, int to)
{
    double tile[TILE];
    for (int number = worker; number < tiles; number += workers) {
        draw(tile, number);
        if (write(to, tile, sizeof tile) != sizeof tile)
            _exit(1);
    }
    _exit(0);
}

static NOINLINE double add_tile(const double *tile)
{
    double sum = 0;
    for (int i = 0; i < TILE; i++)
        sum += tile[i];
    return sum;
}

/* What is written at once to a pipe is read at once. */
static NOINLINE double gather(struct pollfd *pipes, int workers)
{
    double tile[TILE], sum = 0;
    for (int open = workers; open > 0;) {
        poll(pipes, workers, 0); /* FAULT: does not wait until there is something to read */
        for (int worker = 0; worker < workers; worker++) {
            if (pipes[worker].fd < 0 || pipes[worker].revents == 0)
                continue;
            if (read(pipes[worker].fd, tile, sizeof tile) == sizeof tile) {
                sum += add_tile(tile);
            } else {
                close(pipes[worker].fd);
                pipes[worker].fd = -1;
                open--;
            }
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    int workers = threads_asked(argc, argv), tiles = TILES * processors();
    struct pollfd *pipes = calloc(workers, sizeof *pipes);
    for (int worker = 0; worker < workers; worker++) {
        int ends[2];
        if (pipe(ends) != 0)
            return 1;
        if (fork() == 0)
            work(worker, workers, tiles, ends[1]);
        close(ends[1]);
        pipes[worker] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    }
    printf("%.3f\n", gather(pipes, workers));
    while (wait(NULL) > 0)
        ;
    free(pipes);
    return 0;
}
