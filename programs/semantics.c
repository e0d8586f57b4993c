/*
 * Checks itself: what locks, waits, signals, I/O, cancellation and fork do, one line a case, the same in
 * every run. With a tool that intercepts these calls the output must not change by a byte.
 * semantics [GROUP…]: only these groups of cases
 */
#include "semantics/cases.h"

static const struct group {
    const char *name;
    void (*run)(void);
} groups[] = {
    {"mutexes", mutexes},
    {"rwlocks", rwlocks},
    {"conditions", conditions},
    {"semaphores", semaphores},
    {"barriers-and-once", barriers_and_once},
    {"threads-and-keys", threads_and_keys},
    {"standard-threads", standard_threads},
    {"sleeps", sleeps},
    {"polls", polls},
    {"signal-waits", signal_waits},
    {"handlers", handlers},
    {"files", files},
    {"pipes", pipes},
    {"sockets", sockets},
    {"streams", streams},
    {"formats", formats},
    {"raw-calls", raw_calls},
    {"cancellation", cancellation},
    {"processes", processes},
    {"last-things", last_things},
};

static int asked_for(const char *group, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], group) == 0)
            return 1;
    return argc == 1;
}

static pid_t main_process;

/* Registered first, so that it runs after the handlers that are cases themselves; not for children that end
   by exit. */
static void say_how_many(void)
{
    if (getpid() != main_process)
        return;
    printf("%d cases, %d wrong\n", all_outcomes(), wrong_outcomes());
    fflush(stdout);
    if (wrong_outcomes() != 0)
        _exit(1);
}

int main(int argc, char **argv)
{
    /* A line is out before the next case begins: a case that hangs is the one after the last line. */
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    main_process = getpid();
    atexit(say_how_many);
    alarm(200);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (asked_for(groups[i].name, argc, argv)) {
            printf("# %s\n", groups[i].name);
            groups[i].run();
        }
    return 0;
}
