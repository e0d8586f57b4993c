/*
 * From what an argument is to what is passed: mostly something valid, and in one argument of a call
 * something that is not.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>

/* Where a structure for argument `index` lies. */
static char *place(int index)
{
    return ARENA + AT_STRUCTURES + (index + 1) * 1024;
}

static int is(const char *one, const char *other)
{
    return strcmp(one, other) == 0;
}

/* Addresses that a function cannot use, or not for all that it wants to do. */
static long bad_address(struct chance *chance, long valid, size_t bytes)
{
    switch (below(chance, 10)) {
    case 0: return 0;
    case 1: return 8;
    case 2: return (long)(ARENA + AT_NOTHING + 16);
    case 3: return (long)0x8000000000000000;
    case 4: return -1;
    case 5: return (long)(ARENA + AT_CONSTANT + 64);
    case 6: return (long)(ARENA + AT_END - (bytes > 1 ? (long)below(chance, bytes) : 0));
    case 7: return valid + 1;
    case 8: return (long)(ARENA + AT_END);
    default: return -4096;
    }
}

static long bad_number(struct chance *chance)
{
    static const long NUMBERS[] = {0,        1,  -1, INT_MAX, INT_MIN, LONG_MAX, LONG_MIN,
                                   UINT_MAX, 64, 65, 255,     -100,    4096,     1000000000};
    return NUMBERS[below(chance, sizeof NUMBERS / sizeof *NUMBERS)];
}

static long a_descriptor(struct chance *chance)
{
    return below(chance, 12) == 0 ? 25 : 10 + (long)below(chance, 10);
}


static void a_time(struct chance *chance, struct timespec *time)
{
    static const long SECONDS[] = {0, 0, 1, -1, LONG_MAX, LONG_MIN, 1000000000};
    static const long NANOSECONDS[] = {0, 0, 1, 999999999, 1000000000, -1, LONG_MAX};
    time->tv_sec = SECONDS[below(chance, 3 + 4 * (below(chance, 4) == 0))];
    time->tv_nsec = NANOSECONDS[below(chance, 4 + 3 * (below(chance, 3) == 0))];
}

static int a_signal(struct chance *chance)
{
    static const int SIGNALS[] = {SIGUSR1, SIGUSR2, SIGTERM, SIGPIPE, SIGCHLD, SIGURG, SIGPROF};
    return SIGNALS[below(chance, sizeof SIGNALS / sizeof *SIGNALS)];
}

/* Only names below the working folder: whoever runs this may be allowed to remove anything. */
static const char *const PATHS[] = {"data", "more", ".", "no/such", "new", "", "data/x", "written"};

/* A structure of this kind at `at`; how many bytes of it a function may look at. */
static size_t structure(const char *what, struct chance *chance, char *at, int index)
{
    memset(at, 0, 512);
    if (is(what, "timespec")) {
        a_time(chance, (struct timespec *)at);
        return sizeof(struct timespec);
    }
    if (is(what, "timeval")) {
        ((struct timeval *)at)->tv_usec = below(chance, 3) ? 0 : -1;
        return sizeof(struct timeval);
    }
    if (is(what, "sigset")) {
        sigset_t *set = (sigset_t *)at;
        for (uint64_t n = below(chance, 4); n > 0; n--)
            sigaddset(set, a_signal(chance));
        return 8;
    }
    if (is(what, "sigaction")) {
        struct sigaction *action = (struct sigaction *)at;
        static void (*const HANDLERS[])(int) = {SIG_DFL, SIG_IGN};
        static const int FLAGS[] = {0, SA_RESTART, SA_SIGINFO, SA_ONSTACK, SA_RESETHAND, SA_NODEFER};
        action->sa_handler = HANDLERS[below(chance, 2)];
        action->sa_flags = FLAGS[below(chance, 6)];
        sigaddset(&action->sa_mask, a_signal(chance));
        return sizeof *action;
    }
    if (is(what, "offset")) {
        *(long *)at = (long)below(chance, 3) * 100;
        return 8;
    }
    if (is(what, "pollfd")) {
        for (int i = 0; i < 4; i++)
            ((struct pollfd *)at)[i] = (struct pollfd){(int)a_descriptor(chance), POLLIN | POLLOUT, 0};
        return sizeof(struct pollfd);
    }
    if (is(what, "fdset")) {
        at[1] = (char)(1 << below(chance, 8));
        return 128;
    }
    if (is(what, "socklen")) {
        *(int *)at = below(chance, 4) ? 110 : (int)bad_number(chance);
        return 4;
    }
    if (is(what, "sockaddr")) {
        ((struct sockaddr *)at)->sa_family = AF_UNIX;
        strcpy(((struct sockaddr *)at)->sa_data, "nobody");
        return 16;
    }
    if (is(what, "iovec_in") || is(what, "iovec_out")) {
        struct iovec *vector = (struct iovec *)at;
        for (int i = 0; i < 4; i++)
            vector[i] = (struct iovec){ARENA + AT_BUFFER + 256 * i, below(chance, 100)};
        if (below(chance, 4) == 0)
            vector[below(chance, 2)].iov_base = (void *)bad_address(chance, (long)ARENA, 8);
        if (below(chance, 6) == 0)
            vector[below(chance, 2)].iov_len = (size_t)bad_number(chance);
        return sizeof *vector;
    }
    if (strncmp(what, "msghdr", 6) == 0 || strncmp(what, "mmsghdr", 7) == 0) {
        struct iovec *vector = (struct iovec *)(at + 256);
        *vector = (struct iovec){ARENA + AT_BUFFER + 512, 50};
        for (int i = 0; i < 3; i++) {
            struct msghdr *message =
                what[1] == 'm' ? &((struct mmsghdr *)at)[i].msg_hdr : (struct msghdr *)at;
            message->msg_iov = below(chance, 6) ? vector : (void *)bad_address(chance, (long)vector, 16);
            message->msg_iovlen = 1;
        }
        return sizeof(struct msghdr);
    }
    if (is(what, "sembuf")) {
        ((struct sembuf *)at)->sem_op = 1;
        return sizeof(struct sembuf);
    }
    if (is(what, "message")) {
        *(long *)at = 1;
        return 16;
    }
    if (is(what, "line")) {
        *(char **)at = NULL;
        return 8;
    }
    if (is(what, "attributes"))
        return 64; /* Null below: attributes are made by functions of their own. */
    if (is(what, "epoll_event"))
        return sizeof(struct epoll_event);
    (void)index;
    return 8;
}

/* An object in use, at the argument's place. */
static size_t object(const char *what, struct chance *chance, char *at)
{
    uint64_t how = below(chance, 8);
    memset(at, 0, 256);
    if (is(what, "mutex")) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        static const int TYPES[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                    PTHREAD_MUTEX_ADAPTIVE_NP};
        pthread_mutexattr_settype(&attributes, TYPES[how % 4]);
        if (below(chance, 3) == 0)
            pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
        if (below(chance, 3) == 0)
            pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init((pthread_mutex_t *)at, &attributes);
        if (below(chance, 6) == 0)
            pthread_mutex_lock((pthread_mutex_t *)at);
        return sizeof(pthread_mutex_t);
    }
    if (is(what, "mtx")) {
        static const int TYPES[] = {mtx_plain, mtx_timed, mtx_timed | mtx_recursive};
        mtx_init((mtx_t *)at, TYPES[how % 3]);
        if (below(chance, 6) == 0)
            mtx_lock((mtx_t *)at);
        return sizeof(mtx_t);
    }
    if (is(what, "rwlock")) {
        pthread_rwlock_init((pthread_rwlock_t *)at, NULL);
        if (how == 0)
            pthread_rwlock_rdlock((pthread_rwlock_t *)at);
        if (how == 1)
            pthread_rwlock_wrlock((pthread_rwlock_t *)at);
        return sizeof(pthread_rwlock_t);
    }
    if (is(what, "spinlock")) {
        pthread_spin_init((pthread_spinlock_t *)at, 0);
        return 4;
    }
    if (is(what, "barrier")) {
        pthread_barrier_init((pthread_barrier_t *)at, NULL, 1);
        return sizeof(pthread_barrier_t);
    }
    if (is(what, "semaphore")) {
        sem_init((sem_t *)at, 0, how == 0 ? 0 : 3);
        return sizeof(sem_t);
    }
    if (is(what, "condition"))
        return sizeof(pthread_cond_t);
    if (is(what, "cnd"))
        return sizeof(cnd_t);
    return 8;
}

static void initialises(void) {}

static void *starts(void *argument)
{
    return argument;
}

static long number(const char *function, const char *what, const char *type, struct chance *chance)
{
    if (is(what, "size"))
        return strncmp(type, "off", 3) == 0 ? (long)below(chance, 9000) : 1 + (long)below(chance, 60);
    if (is(what, "count"))
        return 1 + (long)below(chance, 3);
    if (is(what, "offset"))
        return (long)below(chance, 9000);
    if (is(what, "flags")) {
        if (strstr(function, "open"))
            return (long[]){O_RDONLY, O_RDWR, O_WRONLY | O_CREAT, O_RDWR | O_CREAT | O_EXCL,
                            O_RDONLY | O_DIRECTORY}[below(chance, 5)];
        if (strncmp(function, "wait", 4) == 0)
            return (long[]){1, 1, 3, 9, 5}[below(chance, 5)];
        return below(chance, 4) ? 0 : 1L << below(chance, 31);
    }
    if (is(what, "permissions"))
        return 0600;
    if (is(what, "signal"))
        return a_signal(chance);
    if (is(what, "clock"))
        return (long[]){
            CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_PROCESS_CPUTIME_ID, 4, 99}[below(chance,
                                                                                                    6)];
    if (is(what, "how") || is(what, "whence"))
        return (long)below(chance, 4);
    if (is(what, "milliseconds"))
        return 0;
    if (is(what, "microseconds") || is(what, "seconds"))
        return 0;
    if (is(what, "process"))
        return below(chance, 2) ? -1 : 99999999;
    if (is(what, "user") || is(what, "group"))
        return below(chance, 2) ? -1 : 65534;
    if (is(what, "character"))
        return (long[]){'a', '\n', 0, 255, 'z'}[below(chance, 5)];
    if (is(what, "handler"))
        return (long)below(chance, 2);
    if (is(what, "set") || is(what, "queue"))
        return -1;
    if (is(what, "thread"))
        return (long)ended_thread;
    if (is(what, "option"))
        return (long)below(chance, 64);
    if (is(what, "call"))
        return (long[]){39, 0, 1, 3, 9999, -1}[below(chance, 6)];
    if (is(what, "status"))
        return 3;
    if (is(what, "length"))
        return 110;
    return (long)below(chance, 8);
}

static long make(const struct hook *hook, int index, struct chance *chance, int is_bad)
{
    const struct argument *argument = &hook->arguments[index];
    const char *grammar = argument->grammar, *what = argument->of[0];
    char *at = place(index);
    long bad = below(chance, 4);
    if (is(grammar, "fd"))
        return is_bad && bad ? bad_number(chance) : a_descriptor(chance);
    if (is(grammar, "dirfd"))
        return is_bad && bad ? bad_number(chance) : below(chance, 2) ? AT_FDCWD : 15;
    if (is(grammar, "number"))
        return is_bad ? bad_number(chance) : number(hook->name, what, argument->type, chance);
    if (is(grammar, "word"))
        return is_bad ? bad_address(chance, (long)at, 8) : (long)below(chance, 8);
    if (is(grammar, "stream")) {
        FILE *stream = streams[below(chance, STREAMS)];
        return is_bad ? bad_address(chance, 0, 216) & ~7L : (long)stream;
    }
    if (is(grammar, "folder"))
        return is_bad ? bad_address(chance, 0, 48) & ~7L : (long)folder;
    if (is(grammar, "function"))
        return is(hook->arguments[index].of[0], "start") ? (long)starts : (long)initialises;
    if (is(grammar, "path") || is(grammar, "text") || is(grammar, "format") || is(grammar, "mode") ||
        is(grammar, "command")) {
        static const char *const FORMATS[] = {"plain\n", "%d %.2s|%c\n", "%%", "", "%d"};
        static const char *const MODES[] = {"r", "w+", "a", "r+", "rw?", ""};
        static const char *const COMMANDS[] = {"exit 3", "true", ":"};
        const char *text = is(grammar, "format") ? FORMATS[below(chance, 5)] :
            is(grammar, "mode") ? MODES[below(chance, 6)] :
            is(grammar, "command") ? COMMANDS[below(chance, 3)] :
            is(grammar, "path") ? PATHS[below(chance, sizeof PATHS / sizeof *PATHS)] : "some text\n";
        strcpy(at, text);
        if (is_bad && bad == 0) {
            /* A text whose end lies beyond what can be read. */
            memset(ARENA + AT_END - 16, 'x', 16);
            return (long)(ARENA + AT_END - 16);
        }
        return is_bad ? bad_address(chance, (long)at, strlen(text) + 1) : (long)at;
    }
    if (is(grammar, "bytes_in") || is(grammar, "bytes_out"))
        return is_bad ? bad_address(chance, (long)(ARENA + AT_BUFFER), 64)
                      : (long)(ARENA + AT_BUFFER + 64 * index);
    if (is(grammar, "strings")) {
        char **list = (char **)at;
        list[0] = strcpy(at + 512, is(argument->name, "environment") ? "ONE=1" : "one");
        list[1] = strcpy(at + 540, "TWO=2");
        list[2] = NULL;
        if (is_bad && bad == 0)
            list[1] = (char *)bad_address(chance, (long)list[1], 1);
        else if (is_bad)
            return bad_address(chance, (long)list, 24);
        return (long)list;
    }
    if (is(grammar, "list")) {
        long *list = (long *)at, *rest = (long *)(at + 64);
        ((int *)list)[0] = 48;
        ((int *)list)[1] = 176;
        list[1] = (long)rest;
        list[2] = 0;
        rest[0] = 7;
        rest[1] = (long)strcpy(at + 256, "abc");
        rest[2] = 'x';
        return is_bad ? bad_address(chance, (long)list, 24) : (long)list;
    }
    if (is(grammar, "object")) {
        size_t bytes = object(what, chance, at);
        return is_bad ? bad_address(chance, 0, bytes) & ~7L : (long)at;
    }
    if (is(grammar, "opaque"))
        return is_bad ? bad_address(chance, (long)at, 8) : 0;
    if (is(what, "attributes") || is(what, "actions"))
        return 0;
    size_t bytes = structure(what, chance, at, index);
    int may_be_null = is(what, "sigset") || is(what, "timespec") || is(what, "timeval") || is(what, "fdset");
    if (!is_bad && may_be_null && below(chance, 5) == 0)
        return 0;
    return is_bad ? bad_address(chance, (long)at, bytes) : (long)at;
}

static int waits_for_a_signal(const struct hook *hook)
{
    return strncmp(hook->name, "sigwait", 7) == 0 || is(hook->name, "sigtimedwait");
}

/* Half of the calls that wait for signals find one that is pending, and blocked; a third wait for all. */
static void raise_a_signal(struct chance *chance)
{
    int number = below(chance, 2) ? SIGUSR1 : SIGURG;
    if (below(chance, 2)) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, number);
        pthread_sigmask(SIG_BLOCK, &set, NULL);
        raise(number);
    }
}

void make_arguments(const struct hook *hook, struct chance *chance, long *values, char *shown, size_t room)
{
    int bad = hook->count > 0 && below(chance, 2) ? (int)below(chance, (uint64_t)hook->count) : -1;
    size_t used = 0;
    memset(values, 0, MOST_ARGUMENTS * sizeof *values);
    shown[0] = 0;
    for (int i = 0; i < hook->count; i++) {
        const struct argument *argument = &hook->arguments[i];
        char text[64];
        if (is(argument->grammar, "more")) {
            /* What a format wants, or the end of a list. */
            if (strstr(hook->name, "exec") == NULL) {
                values[i] = 7;
                values[i + 1] = (long)strcpy(place(i) + 64, "abc");
                values[i + 2] = 'x';
            }
            break;
        }
        values[i] = make(hook, i, chance, i == bad);
        /* All processes have these files in common, and so their locks. */
        int number = (int)values[i];
        int is_everybodys =
            is(argument->grammar, "fd") && ((number >= 0 && number <= 2) || (number >= 16 && number <= 18));
        if (is_everybodys && (is(hook->name, "flock") || strncmp(hook->name, "lockf", 5) == 0))
            values[i] = 10;
        /* Alone in a mask, the signal that stands for the sampling signal is a visible difference. */
        if ((is(hook->name, "sigblock") || is(hook->name, "sigsetmask")) && !(values[i] & 1L << (SIGURG - 1)))
            values[i] &= ~(1L << (SIGSTKFLT - 1));
        if (is(argument->grammar, "stream")) {
            snprintf(text, sizeof text, "stream");
            for (int s = 0; s < STREAMS; s++)
                if (values[i] == (long)streams[s])
                    snprintf(text, sizeof text, "stream %d", s);
            if (strcmp(text, "stream") == 0)
                shown_address((void *)values[i], text, sizeof text);
        } else if (is(argument->grammar, "number") && !is(argument->of[0], "thread")) {
            snprintf(text, sizeof text, "%ld", values[i]);
        } else if (is(argument->grammar, "fd") || is(argument->grammar, "dirfd")) {
            snprintf(text, sizeof text, "fd %d", (int)values[i]);
        } else {
            shown_address((void *)values[i], text, sizeof text);
        }
        used +=
            (size_t)snprintf(shown + used, room - used, "%s%s%s", i ? ", " : "", i == bad ? "!" : "", text);
    }
    if (waits_for_a_signal(hook)) {
        raise_a_signal(chance);
        if (below(chance, 3) == 0)
            sigfillset((sigset_t *)place(0));
    }
}
