/* poll, select, epoll: timeouts, masks, EINTR, and what they say is ready. */
#include "cases.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>

static int ends[2];

/* A signal that is blocked but for the wait: pending, it ends the wait at once, and is blocked again after
   it. */
static void make_pending(void)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    handle(SIGUSR2, count_signal, 0);
    handled = 0;
    pthread_kill(pthread_self(), SIGUSR2);
}

static const char *after_pending(const char *text)
{
    static char all[200];
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    snprintf(all, sizeof all, "%s, handled %d, blocked %d", text, (int)handled, sigismember(&now, SIGUSR2));
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, SIGUSR2);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    return all;
}

static void *write_when_asleep(void *sleeper)
{
    until_asleep(sleeper);
    event("writing");
    if (write(ends[1], "x", 1) != 1)
        event("failed");
    return NULL;
}

static int epoll;

static void *wait_for_input(void *how)
{
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    struct epoll_event ready;
    struct timespec minute = {60, 0};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    int result = -1;
    arrive();
    switch (*(char *)how) {
    case 'p': result = poll(&one, 1, -1); break;
    case 'P': result = ppoll(&one, 1, &minute, NULL); break;
    case 's': result = select(ends[0] + 1, &set, NULL, NULL, NULL); break;
    case 'S': result = pselect(ends[0] + 1, &set, NULL, NULL, &minute, NULL); break;
    case 'e': result = epoll_wait(epoll, &ready, 1, -1); break;
    case 'E': result = epoll_pwait(epoll, &ready, 1, LATER_MS, NULL); break;
    }
    char byte;
    event(result == 1 && read(ends[0], &byte, 1) == 1 ? "ready" : "failed");
    return NULL;
}

static void woken(const char *name, const char *how)
{
    struct worker waiter, writer;
    start(&waiter, wait_for_input, (void *)how);
    start(&writer, write_when_asleep, &waiter);
    finish(&waiter);
    finish(&writer);
    outcome(name, "writing ready", "%s", events());
}

static void with_poll(void)
{
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    volatile nfds_t too_many = (nfds_t)-1;
    struct timespec shortly = {0, SHORTLY_MS * 1000000}, minute = {60, 0}, never = {0, 1000000000};
    sigset_t none;
    sigemptyset(&none);
    outcome("poll, no time", "0", "%s", OUT(poll(&one, 1, 0)));
    outcome("poll, soon", "0", "%s", NOT_EARLY(OUT(poll(&one, 1, SHORTLY_MS))));
    outcome("poll of nothing, soon", "0", "%s", NOT_EARLY(OUT(poll(NULL, 0, SHORTLY_MS))));
    outcome("poll, bad pointer", "-1 EFAULT", "%s", OUT(poll(nowhere, 1, 0)));
    outcome("poll, too many", "-1 EINVAL", "%s", OUT(poll(&one, too_many, 0)));
    struct pollfd closed = {.fd = 987, .events = POLLIN};
    outcome("poll of no file", "1 1", "%s",
            BOTH(OUT(poll(&closed, 1, 0)), number(closed.revents == POLLNVAL)));
    struct pollfd out = {.fd = ends[1], .events = POLLOUT};
    outcome("poll for writing", "1 1", "%s", BOTH(OUT(poll(&out, 1, -1)), number(out.revents == POLLOUT)));
    handle(SIGUSR1, count_signal, 0);
    outcome("poll, interrupted", "-1 EINTR", "%s", INTERRUPTED(SIGUSR1, OUT(poll(&one, 1, -1))));
    handle(SIGUSR1, count_signal, SA_RESTART);
    outcome("poll, interrupted with restart", "-1 EINTR", "%s",
            INTERRUPTED(SIGUSR1, OUT(poll(&one, 1, LATER_MS))));
    handle(SIGUSR1, count_signal, 0);
    outcome("ppoll, soon", "0", "%s", NOT_EARLY(OUT(ppoll(&one, 1, &shortly, NULL))));
    outcome("ppoll: its time is not changed", "8000000", "%ld", shortly.tv_nsec);
    outcome("ppoll, no such time", "-1 EINVAL", "%s", OUT(ppoll(&one, 1, &never, NULL)));
    make_pending();
    outcome("ppoll with a mask", "-1 EINTR, handled 1, blocked 1", "%s",
            after_pending(OUT(ppoll(&one, 1, &minute, &none))));
    outcome("ppoll, interrupted", "-1 EINTR", "%s", INTERRUPTED(SIGUSR1, OUT(ppoll(&one, 1, &minute, NULL))));
    woken("poll, woken", "p");
    woken("ppoll, woken", "P");

    int other[2];
    if (pipe(other) != 0)
        return;
    close(other[1]);
    struct pollfd hung = {.fd = other[0], .events = POLLIN};
    outcome("poll of a pipe without a writer", "1 1", "%s",
            BOTH(OUT(poll(&hung, 1, -1)), number(hung.revents == POLLHUP)));
    close(other[0]);
}

static fd_set *only(fd_set *set, int file)
{
    FD_ZERO(set);
    FD_SET(file, set);
    return set;
}

static void with_select(void)
{
    fd_set set;
    struct timeval soon = {0, SHORTLY_MS * 1000}, wrong = {-1, 0};
    struct timespec shortly = {0, SHORTLY_MS * 1000000}, minute = {60, 0};
    sigset_t none;
    sigemptyset(&none);
    /* One that lies in the table of descriptors: those above it are not even looked at. */
    int closed = dup(ends[0]);
    close(closed);
#define ONLY(file) only(&set, file)
    outcome("select, no time", "0", "%s",
            OUT(select(ends[0] + 1, ONLY(ends[0]), NULL, NULL, &(struct timeval){0, 0})));
    outcome("select, soon", "0", "%s", NOT_EARLY(OUT(select(ends[0] + 1, ONLY(ends[0]), NULL, NULL, &soon))));
    outcome("select: time left", "0.0", "%ld.%ld", (long)soon.tv_sec, (long)soon.tv_usec);
    outcome("select: the set is empty", "0", "%d", FD_ISSET(ends[0], &set) != 0);
    outcome("select as a sleep", "0", "%s",
            NOT_EARLY(OUT(select(0, NULL, NULL, NULL, &(struct timeval){0, SHORTLY_MS * 1000}))));
    outcome("select, negative time", "-1 EINVAL", "%s", OUT(select(0, NULL, NULL, NULL, &wrong)));
    outcome("select, negative count", "-1 EINVAL", "%s", OUT(select(-1, NULL, NULL, NULL, NULL)));
    outcome("select of no file", "-1 EBADF", "%s",
            OUT(select(closed + 1, ONLY(closed), NULL, NULL, &(struct timeval){0, 0})));
    outcome("select for writing", "1", "%s", OUT(select(ends[1] + 1, NULL, ONLY(ends[1]), NULL, NULL)));
    outcome("select, interrupted", "-1 EINTR", "%s",
            INTERRUPTED(SIGUSR1, OUT(select(ends[0] + 1, ONLY(ends[0]), NULL, NULL, NULL))));
    outcome("pselect, soon", "0", "%s",
            NOT_EARLY(OUT(pselect(ends[0] + 1, ONLY(ends[0]), NULL, NULL, &shortly, NULL))));
    outcome("pselect: its time is not changed", "8000000", "%ld", shortly.tv_nsec);
    make_pending();
    outcome("pselect with a mask", "-1 EINTR, handled 1, blocked 1", "%s",
            after_pending(OUT(pselect(ends[0] + 1, ONLY(ends[0]), NULL, NULL, &minute, &none))));
    outcome("pselect, interrupted", "-1 EINTR", "%s",
            INTERRUPTED(SIGUSR1, OUT(pselect(ends[0] + 1, ONLY(ends[0]), NULL, NULL, &minute, NULL))));
    woken("select, woken", "s");
    woken("pselect, woken", "S");
}

static void with_epoll(void)
{
    struct epoll_event wanted = {.events = EPOLLIN, .data.u64 = 42}, ready = {0};
    struct timespec shortly = {0, SHORTLY_MS * 1000000};
    sigset_t none;
    sigemptyset(&none);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    outcome("epoll_ctl", "0", "%s", OUT(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &wanted)));
    outcome("epoll_ctl again", "-1 EEXIST", "%s", OUT(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &wanted)));
    outcome("epoll_wait, no time", "0", "%s", OUT(epoll_wait(epoll, &ready, 1, 0)));
    outcome("epoll_wait, soon", "0", "%s", NOT_EARLY(OUT(epoll_wait(epoll, &ready, 1, SHORTLY_MS))));
    outcome("epoll_wait for nothing", "-1 EINVAL", "%s", OUT(epoll_wait(epoll, &ready, 0, 0)));
    outcome("epoll_wait on no file", "-1 EBADF", "%s", OUT(epoll_wait(987, &ready, 1, 0)));
    outcome("epoll_wait on another file", "-1 EINVAL", "%s", OUT(epoll_wait(ends[0], &ready, 1, 0)));
    outcome("epoll_wait, interrupted", "-1 EINTR", "%s",
            INTERRUPTED(SIGUSR1, OUT(epoll_wait(epoll, &ready, 1, -1))));
    make_pending();
    outcome("epoll_pwait with a mask", "-1 EINTR, handled 1, blocked 1", "%s",
            after_pending(OUT(epoll_pwait(epoll, &ready, 1, LATER_MS, &none))));
    outcome("epoll_pwait, soon", "0", "%s", NOT_EARLY(OUT(epoll_pwait(epoll, &ready, 1, SHORTLY_MS, NULL))));
#if __GLIBC_PREREQ(2, 35)
    outcome("epoll_pwait2, soon", "0", "%s", NOT_EARLY(OUT(epoll_pwait2(epoll, &ready, 1, &shortly, NULL))));
#else
    (void)shortly;
#endif
    woken("epoll_wait, woken", "e");
    woken("epoll_pwait, woken", "E");
    if (write(ends[1], "x", 1) != 1)
        return;
    outcome("epoll_wait when ready", "1 42", "%s",
            BOTH(OUT(epoll_wait(epoll, &ready, 1, -1)), number((long)ready.data.u64)));
    close(epoll);
}

static void with_eventfd(void)
{
    uint64_t value = 5;
    int counter = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    outcome("eventfd read at zero", "-1 EAGAIN", "%s", OUT(read(counter, &value, sizeof value)));
    value = 5;
    outcome("eventfd write", "8", "%s", OUT(write(counter, &value, sizeof value)));
    value = 0;
    outcome("eventfd read", "8 5", "%s", BOTH(OUT(read(counter, &value, sizeof value)), number((long)value)));
    outcome("eventfd read, too short", "-1 EINVAL", "%s", OUT(read(counter, &value, 4)));
    eventfd_write(counter, 3);
    eventfd_t got = 0;
    outcome("eventfd_read", "0 3", "%s", BOTH(OUT(eventfd_read(counter, &got)), number((long)got)));
    close(counter);
}

void polls(void)
{
    if (pipe(ends) != 0)
        return;
    with_poll();
    with_select();
    with_epoll();
    with_eventfd();
    close(ends[0]);
    close(ends[1]);
}
