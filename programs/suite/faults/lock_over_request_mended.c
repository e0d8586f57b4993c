/* Workers send each result over a connection of their own; the lock guards a number. */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int jobs;
static long entries;

static NOINLINE double solve(int job) { return refine(job, 30000); }

/* The far end of a connection: takes its time to answer. */
static void answer(int connection)
{
    double value;
    while (read(connection, &value, sizeof value) == (ssize_t)sizeof value) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        if (write(connection, &value, sizeof value) != (ssize_t)sizeof value)
            break;
    }
    _exit(0);
}

static NOINLINE void request(int connection, double value)
{
    if (write(connection, &value, sizeof value) != (ssize_t)sizeof value ||
        read(connection, &value, sizeof value) != (ssize_t)sizeof value)
        abort();
}

static NOINLINE void note(int connection, double value)
{
    pthread_mutex_lock(&guard);
    entries++;
    pthread_mutex_unlock(&guard);
    request(connection, value);
}

static void *work(void *argument)
{
    int connection = *(int *)argument;
    for (int job = 0; job < jobs; job++)
        note(connection, solve(job));
    close(connection);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t *team = calloc(threads, sizeof *team);
    int *connections = calloc(threads, sizeof *connections);
    jobs = 1000 / threads;
    for (int i = 0; i < threads; i++) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
            return 1;
        if (fork() == 0) {
            for (int other = 0; other < i; other++)
                close(connections[other]);
            close(ends[0]);
            answer(ends[1]);
        }
        close(ends[1]);
        connections[i] = ends[0];
    }
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, work, &connections[i]);
    for (int i = 0; i < threads; i++)
        pthread_join(team[i], NULL);
    while (wait(NULL) > 0)
        ;
    printf("%ld\n", entries);
    free(team);
    free(connections);
    return 0;
}
