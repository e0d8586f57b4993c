/*
 * What the programs that wait share: each thread times its own waits by CLOCK_MONOTONIC, and the truth says
 * for each of them what it waited for and how that counts.
 */
#ifndef PROUST_PROGRAMS_WAITED_H
#define PROUST_PROGRAMS_WAITED_H

#include "truth.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { THREADS = 80, OBJECTS = 12 };

struct waited {
    const char *kind, *object, *account;
    unsigned calls;
    double seconds;
};

struct truth {
    const char *name;
    long pid, tid;
    double began, wall_s, cpu_s;
    struct waited waits[OBJECTS], held[OBJECTS];
    /* The wait that it is in, for those that never return. */
    struct waited open;
    double waits_since;
};

/* Shared with child processes: what a child writes here, its parent prints. */
static struct truths {
    int count;
    struct truth list[THREADS];
} *truths;
static _Thread_local struct truth *mine;

static inline struct truth *new_truth(const char *name)
{
    int place = __atomic_fetch_add(&truths->count, 1, __ATOMIC_SEQ_CST);
    if (place >= THREADS)
        exit(2);
    truths->list[place].name = name;
    return &truths->list[place];
}

static inline void add(struct waited *list, const char *kind, const char *object, const char *account,
                       double seconds)
{
    struct waited *one = list;
    while (one < list + OBJECTS - 1 && one->kind != NULL &&
           (strcmp(one->kind, kind) != 0 || strcmp(one->object, object) != 0))
        one++;
    *one = (struct waited){kind, object, account, one->calls + 1, one->seconds + seconds};
}

static inline void begin_wait(const char *kind, const char *object, const char *account)
{
    mine->waits_since = wall();
    mine->open = (struct waited){NULL, object, account, 1, 0};
    /* Others look at it: last of all, since when is known by then. */
    __atomic_store_n(&mine->open.kind, kind, __ATOMIC_RELEASE);
}

static inline void end_wait(void)
{
    double seconds = wall() - mine->waits_since;
    add(mine->waits, mine->open.kind, mine->open.object, mine->open.account, seconds);
    mine->open.kind = NULL;
}

/* Times `call`, which waits for `object`. */
#define WAIT(kind, object, account, call)                                                                    \
    do {                                                                                                     \
        begin_wait(kind, object, account);                                                                   \
        (void)!(call);                                                                                       \
        end_wait();                                                                                          \
    } while (0)
#define LOCK "lock"
#define BARRIER "barrier"
#define PASSIVE "passive"

static inline void begin(struct truth *truth)
{
    mine = truth;
    truth->pid = getpid();
    truth->tid = thread_id();
    truth->began = wall();
}

static inline void end(void)
{
    mine->wall_s = wall() - mine->began;
    mine->cpu_s = thread_cpu();
}

/* The first thread of the program. */
static inline void begin_program(const char *name)
{
    truths = mmap(NULL, sizeof *truths, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (truths == MAP_FAILED)
        exit(2);
    begin(new_truth(name));
}

struct role {
    pthread_t thread;
    void (*run)(void);
    struct truth *truth;
};

static inline void *play(void *argument)
{
    struct role *role = argument;
    pthread_setname_np(pthread_self(), role->truth->name);
    begin(role->truth);
    role->run();
    end();
    return NULL;
}

static inline void start(struct role *role, const char *name, void (*run)(void))
{
    role->run = run;
    role->truth = new_truth(name);
    if (pthread_create(&role->thread, NULL, play, role) != 0)
        exit(2);
}

static inline void join(struct role *role)
{
    WAIT("join", role->truth->name, PASSIVE, pthread_join(role->thread, NULL));
}

static inline void print_waited(const struct waited *one, const char *separator, double more)
{
    printf("%s{\"kind\":\"%s\",\"object\":\"%s\",\"account\":\"%s\",\"calls\":%u,\"seconds\":%.6f}",
           separator, one->kind, one->object, one->account, one->calls, one->seconds + more);
}

static inline const char *print_list(const struct waited *list)
{
    const char *separator = "";
    for (const struct waited *one = list; one < list + OBJECTS && one->kind != NULL; one++, separator = ",")
        print_waited(one, separator, 0);
    return separator;
}

/* The threads, as the value of a field. Waits that have not ended are counted until now. */
static inline void print_threads(void)
{
    printf("\"threads\":[");
    for (int i = 0; i < truths->count; i++) {
        const struct truth *truth = &truths->list[i];
        double now = wall();
        printf("%s{\"pid\":%ld,\"tid\":%ld,\"name\":\"%s\",\"wall_s\":%.6f,\"cpu_s\":%.6f,\"waits\":[",
               i ? "," : "", truth->pid, truth->tid, truth->name,
               truth->wall_s > 0 ? truth->wall_s : now - truth->began, truth->cpu_s);
        const char *separator = print_list(truth->waits);
        if (truth->open.kind != NULL)
            print_waited(&truth->open, separator, now - truth->waits_since);
        printf("],\"held\":[");
        print_list(truth->held);
        printf("]}");
    }
    printf("]");
}

#endif
