/*
 * Threads of two priorities on one processor: an ordinary one computes in code that it has just loaded, and
 * is stopped wherever it is by one of real-time priority, which loads and unloads libraries, creates
 * threads, locks and writes. A thread that waited for the other one without giving the processor away would
 * wait until the kernel stops it.
 * real_time SECONDS
 *
 * Prints the most processor time that one call of the real-time thread took, and how many it made. Exit
 * code 3: this user may not.
 */
#include "truth.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

enum { COPIES = 40 };

static const char *library;
static char copies[COPIES][256];
static atomic_int is_over, is_refused;
static double most_s;
static long calls;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static double clock_s(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The file anew, as another one: a library of the same file is loaded once. */
static void copy(const char *to)
{
    static char bytes[1 << 20];
    FILE *from = fopen(library, "rb"), *into = fopen(to, "wb");
    size_t got;
    if (from == NULL || into == NULL)
        abort();
    while ((got = fread(bytes, 1, sizeof bytes, from)) > 0)
        fwrite(bytes, 1, got, into);
    fclose(from);
    fclose(into);
}

/* Loads code that nobody knows yet, and computes in it for a few samples. */
static void *ordinary(void *unused)
{
    for (int i = 0; !is_over; i = (i + 1) % COPIES) {
        void *loaded = dlopen(copies[i], RTLD_NOW);
        uint64_t (*work)(uint64_t, uint64_t) =
            loaded ? (uint64_t (*)(uint64_t, uint64_t))dlsym(loaded, "plugin_a_work") : NULL;
        if (work == NULL)
            abort();
        double until_s = clock_s(CLOCK_THREAD_CPUTIME_ID) + 0.012;
        for (uint64_t value = 1; clock_s(CLOCK_THREAD_CPUTIME_ID) < until_s;)
            value = work(value, 20000);
        dlclose(loaded);
    }
    return unused;
}

static void *nothing(void *unused) { return unused; }

#define TIMED(...)                                                                                           \
    do {                                                                                                     \
        double begin_s = clock_s(CLOCK_THREAD_CPUTIME_ID);                                                   \
        __VA_ARGS__;                                                                                         \
        double took_s = clock_s(CLOCK_THREAD_CPUTIME_ID) - begin_s;                                          \
        most_s = took_s > most_s ? took_s : most_s;                                                          \
        calls++;                                                                                             \
    } while (0)

static void *real_time(void *unused)
{
    struct sched_param priority = {.sched_priority = 10};
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority) != 0) {
        is_refused = 1;
        return unused;
    }
    int file = open("/dev/null", O_WRONLY);
    while (!is_over) {
        void *loaded;
        pthread_t thread;
        TIMED(loaded = dlopen(library, RTLD_NOW));
        TIMED(dlclose(loaded));
        TIMED(pthread_create(&thread, NULL, nothing, NULL));
        TIMED(pthread_join(thread, NULL));
        TIMED(pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex));
        TIMED(if (write(file, "text", 4) != 4) abort());
        nanosleep(&(struct timespec){0, 130000}, NULL);
    }
    close(file);
    return unused;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1.0;
    char path[4096], folder[] = "/tmp/real_time.XXXXXX";
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 32);
    if (length < 0 || mkdtemp(folder) == NULL)
        return 2;
    path[length] = 0;
    strcpy(strrchr(path, '/'), "/libplugin_a.so");
    library = path;
    for (int i = 0; i < COPIES; i++) {
        snprintf(copies[i], sizeof copies[i], "%s/%d.so", folder, i);
        copy(copies[i]);
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof one, &one);
    for (int i = 0, found = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &one) && found++)
            CPU_CLR(i, &one);
    sched_setaffinity(0, sizeof one, &one);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, ordinary, NULL);
    pthread_create(&threads[1], NULL, real_time, NULL);
    /* The processor time of the ordinary thread is what passes: this machine may be busy, and stop all of
       it. */
    clockid_t clock;
    pthread_getcpuclockid(threads[0], &clock);
    while (!is_refused && clock_s(clock) < seconds)
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    is_over = 1;
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    for (int i = 0; i < COPIES; i++)
        unlink(copies[i]);
    rmdir(folder);
    if (is_refused)
        return 3;
    printf("{\"program\":\"real_time\",\"most_s\":%.6f,\"calls\":%ld}\n", most_s, calls);
    return 0;
}
