/*
 * A pool of four threads that take tasks from a queue, while the first thread waits for them to be done.
 * pool SECONDS KIND
 * KIND: long-task (many short tasks, then one long one, which takes the last third of the time);
 *       serial (the first thread prepares each round of tasks alone, for as long as the round itself takes
 *       on two processors).
 *
 * Prints `alone_s`: how long one thread worked while all the others had nothing to do.
 */
#include "truth.h"

#include <pthread.h>

enum { MEMBERS = 4, SHORT_TASKS = 100, ROUNDS = 20, TASKS_OF_A_ROUND = 8 };

typedef void task(double seconds);

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static task *next_task;
static double task_s;
static int waiting_tasks, running_tasks, closed;
static double alone_s;

KEPT static void short_task(double seconds) { burn_cpu(seconds); }
KEPT static void long_task(double seconds)
{
    double began = wall();
    burn_cpu(seconds);
    alone_s += wall() - began;
}
KEPT static void prepare(double seconds)
{
    double began = wall();
    burn_cpu(seconds);
    alone_s += wall() - began;
}

static void *member(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&queue);
    for (;;) {
        while (waiting_tasks == 0 && !closed)
            pthread_cond_wait(&filled, &queue);
        if (waiting_tasks == 0)
            break;
        task *mine = next_task;
        double seconds = task_s;
        waiting_tasks--;
        running_tasks++;
        pthread_mutex_unlock(&queue);
        mine(seconds);
        pthread_mutex_lock(&queue);
        running_tasks--;
        if (waiting_tasks == 0 && running_tasks == 0)
            pthread_cond_signal(&emptied);
    }
    pthread_mutex_unlock(&queue);
    return NULL;
}

static void run(task *what, int times, double seconds)
{
    pthread_mutex_lock(&queue);
    next_task = what;
    task_s = seconds;
    waiting_tasks = times;
    pthread_cond_broadcast(&filled);
    while (waiting_tasks > 0 || running_tasks > 0)
        pthread_cond_wait(&emptied, &queue);
    pthread_mutex_unlock(&queue);
}

int main(int argc, char **argv)
{
    double began = wall(), seconds = seconds_argument(argc, argv, 1, 1.0);
    int serial = argc > 2 && argv[2][0] == 's';
    pthread_t members[MEMBERS];
    for (int i = 0; i < MEMBERS; i++)
        if (pthread_create(&members[i], NULL, member, NULL) != 0)
            return 2;
    if (serial) {
        for (int i = 0; i < ROUNDS; i++) {
            prepare(seconds / ROUNDS / 2);
            run(short_task, TASKS_OF_A_ROUND, seconds / ROUNDS / TASKS_OF_A_ROUND);
        }
    } else {
        run(short_task, SHORT_TASKS, seconds * 2 / 3 * 2 / SHORT_TASKS);
        run(long_task, 1, seconds / 3);
    }
    pthread_mutex_lock(&queue);
    closed = 1;
    pthread_cond_broadcast(&filled);
    pthread_mutex_unlock(&queue);
    for (int i = 0; i < MEMBERS; i++)
        pthread_join(members[i], NULL);
    printf("{\"program\":\"pool\",\"alone_s\":%.6f,\"cpu_s\":%.6f,\"wall_s\":%.6f}\n", alone_s, process_cpu(),
           wall() - began);
    return 0;
}
