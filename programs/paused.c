/*
 * Is watched by somebody who pauses the recording while it runs, and says what it did meanwhile.
 * paused CASE SECONDS FOLDER
 *
 * compute  computes in wanted(), until FOLDER/pause exists in unwanted(), and from FOLDER/resume on for
 *          SECONDS
 *          more in wanted() again
 * lock     the same, and holds a lock all the time, for which another thread waits
 * threads  the same; in the meantime it starts a thread that ends, one that goes on computing in unwanted()
 *          and
 *          then in born_meanwhile(), and a child that computes
 * sleep    sleeps in one call from before until SECONDS after
 * plain    computes for SECONDS
 *
 * Prints a line when it begins to wait for each of the two files, and at the end the times of its clocks.
 */
#include "truth.h"
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char pause_file[4096], resume_file[4096];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int is_back;
static double waited, born_cpu, unwanted_cpu;

static int exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

static void say(const char *what)
{
    printf("%s\n", what);
    fflush(stdout);
}

/* Computes until the file is there, or for so much of the wall's clock. */
#define WORK(file, seconds)                                                                                  \
    do {                                                                                                     \
        uint64_t x = kept_result;                                                                            \
        double begin = thread_cpu(), end = wall() + (seconds);                                               \
        do                                                                                                   \
            BURN(x, 50 * UNIT);                                                                              \
        while ((file) ? !exists(file) : wall() < end);                                                       \
        kept_result = x;                                                                                     \
        return thread_cpu() - begin;                                                                         \
    } while (0)

KEPT static double wanted(const char *file, double seconds) { WORK(file, seconds); }
KEPT static double unwanted(const char *file, double seconds) { WORK(file, seconds); }
KEPT static double born_meanwhile(double seconds) { WORK((char *)NULL, seconds); }

static void *waiter(void *nothing)
{
    (void)nothing;
    double begin = wall();
    pthread_mutex_lock(&lock);
    waited = wall() - begin;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *ends(void *nothing)
{
    (void)nothing;
    unwanted(NULL, 0.1);
    return NULL;
}

static void *goes_on(void *seconds)
{
    unwanted(resume_file, 0);
    while (!is_back)
        usleep(1000);
    born_cpu = born_meanwhile(*(double *)seconds);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "plain";
    double seconds = seconds_argument(argc, argv, 2, 1.0), begin = wall(), wanted_cpu = 0;
    const char *folder = argc > 3 ? argv[3] : ".";
    snprintf(pause_file, sizeof pause_file, "%s/pause", folder);
    snprintf(resume_file, sizeof resume_file, "%s/resume", folder);
    if (!strcmp(which, "plain")) {
        wanted_cpu = wanted(NULL, seconds);
    } else if (!strcmp(which, "sleep")) {
        say("ready");
        struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
        nanosleep(&time, NULL);
    } else {
        pthread_t other, born;
        int has_lock = !strcmp(which, "lock"), has_threads = !strcmp(which, "threads");
        pthread_mutex_lock(&lock);
        if (has_lock)
            pthread_create(&other, NULL, waiter, NULL);
        say("ready");
        wanted_cpu = wanted(pause_file, 0);
        say("paused");
        if (has_threads) {
            pthread_create(&other, NULL, ends, NULL);
            pthread_join(other, NULL);
            pthread_create(&born, NULL, goes_on, &seconds);
            pid_t child = fork();
            if (child == 0) {
                unwanted(NULL, 0.2);
                _exit(0);
            }
            waitpid(child, NULL, 0);
        }
        unwanted_cpu = unwanted(resume_file, 0);
        is_back = 1;
        say("back");
        wanted_cpu += wanted(NULL, seconds);
        pthread_mutex_unlock(&lock);
        if (has_lock)
            pthread_join(other, NULL);
        if (has_threads)
            pthread_join(born, NULL);
    }
    printf("{\"wall_s\":%.6f,\"wanted_s\":%.6f,\"unwanted_s\":%.6f,\"waited_s\":%.6f,\"born_s\":%.6f}\n",
           wall() - begin, wanted_cpu, unwanted_cpu, waited, born_cpu);
    return 0;
}
