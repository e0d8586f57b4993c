/* Pipes: blocking both ways, full, broken, interrupted; splice and tee. */
#include "cases.h"

#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum { CAPACITY = 65536 };

static int ends[2];
static char block[CAPACITY];

static void *write_when_asleep(void *sleeper)
{
    until_asleep(sleeper);
    event("writing");
    if (write(ends[1], "12345", 5) != 5)
        event("failed");
    return NULL;
}

static void *read_some(void *how)
{
    char buffer[16];
    struct iovec into = {buffer, sizeof buffer};
    arrive();
    ssize_t length = how == NULL ? read(ends[0], buffer, sizeof buffer) : readv(ends[0], &into, 1);
    event(length == 5 && memcmp(buffer, "12345", 5) == 0 ? "read" : "failed");
    return NULL;
}

static void *write_much(void *argument)
{
    (void)argument;
    arrive();
    /* More than fits: blocks until the reader makes room, and is written whole. */
    event(write(ends[1], block, CAPACITY) == CAPACITY ? "written" : "failed");
    return NULL;
}

static void blocking(void)
{
    struct worker one, other;
    for (int vector = 0; vector < 2; vector++) {
        start(&one, read_some, vector ? &one : NULL);
        start(&other, write_when_asleep, &one);
        finish(&one);
        finish(&other);
        outcome(vector ? "pipe: readv, woken" : "pipe: read, woken", "writing read", "%s", events());
    }
    if (write(ends[1], block, 100) != 100)
        event("failed");
    start(&one, write_much, NULL);
    until_asleep(&one);
    event("reading");
    long all = 0;
    while (all < CAPACITY + 100) {
        char buffer[4096];
        ssize_t length = read(ends[0], buffer, sizeof buffer);
        if (length <= 0)
            break;
        all += length;
    }
    finish(&one);
    outcome("pipe: a write that has to wait", "65636, reading written", "%ld, %s", all, events());

    char byte;
    handle(SIGUSR1, count_signal, 0);
    outcome("pipe: read, interrupted", "-1 EINTR", "%s", INTERRUPTED(SIGUSR1, OUT(read(ends[0], &byte, 1))));
    if (write(ends[1], block, CAPACITY) != CAPACITY)
        event("failed");
    outcome("pipe: write, interrupted", "-1 EINTR", "%s",
            INTERRUPTED(SIGUSR1, OUT(write(ends[1], &byte, 1))));
    if (read(ends[0], block, CAPACITY) != CAPACITY)
        event("failed");
    outcome("pipe: a write that is interrupted in the middle", "65536", "%s",
            INTERRUPTED(SIGUSR1,
                        OUT(writev(ends[1], (struct iovec[]){{block, CAPACITY}, {block, CAPACITY}}, 2))));
    if (read(ends[0], block, CAPACITY) != CAPACITY)
        event("failed");
    outcome("pipe: nothing failed", "", "%s", events());
}

static void write_in_handler(int number)
{
    (void)number;
    int saved = errno;
    if (write(ends[1], "h", 1) != 1)
        handled = -1000;
    handled++;
    errno = saved;
}

static void restarted(void)
{
    char byte = 0;
    handled = 0;
    handle(SIGUSR1, write_in_handler, SA_RESTART);
    outcome(
        "pipe: read, restarted after its handler wrote", "1 h 1", "%s",
        THREE(INTERRUPTED(SIGUSR1, OUT(read(ends[0], &byte, 1))), byte == 'h' ? "h" : "?", number(handled)));
}

static void without_blocking(void)
{
    char buffer[16];
    int quick[2];
    outcome("pipe2", "0", "%s", OUT(pipe2(quick, O_NONBLOCK | O_CLOEXEC)));
    outcome("pipe2, no such flag", "-1 EINVAL", "%s", OUT(pipe2(ends, O_APPEND)));
    outcome("pipe, bad pointer", "-1 EFAULT", "%s", OUT(pipe(nowhere)));
    outcome("pipe: read when empty", "-1 EAGAIN", "%s", OUT(read(quick[0], buffer, 1)));
    outcome("pipe: write until full", "65536", "%s", OUT(write(quick[1], block, CAPACITY)));
    outcome("pipe: write when full", "-1 EAGAIN", "%s", OUT(write(quick[1], block, 1)));
    outcome("pipe: writev when full", "-1 EAGAIN", "%s", OUT(writev(quick[1], &(struct iovec){block, 1}, 1)));
    outcome("pipe: pread", "-1 ESPIPE", "%s", OUT(pread(quick[0], buffer, 1, 0)));
    outcome("pipe: pwrite", "-1 ESPIPE", "%s", OUT(pwrite(quick[1], buffer, 1, 0)));
    outcome("pipe: lseek", "-1 ESPIPE", "%s", OUT(lseek(quick[0], 0, SEEK_SET)));
    outcome("pipe: fsync", "-1 EINVAL", "%s", OUT(fsync(quick[1])));
    outcome("pipe: read of its writing end", "-1 EBADF", "%s", OUT(read(quick[1], buffer, 1)));

    int second[2];
    if (pipe2(second, O_NONBLOCK) != 0)
        return;
    outcome("tee", "4096", "%s", OUT(tee(quick[0], second[1], 4096, SPLICE_F_NONBLOCK)));
    outcome("tee into itself", "-1 EINVAL", "%s", OUT(tee(quick[0], quick[1], 1, 0)));
    outcome("splice between pipes", "4096", "%s", OUT(splice(quick[0], NULL, second[1], NULL, 4096, 0)));
    outcome("splice of no file", "-1 EBADF", "%s", OUT(splice(987, NULL, second[1], NULL, 1, 0)));
    off64_t at = 0;
    outcome("splice with an offset in a pipe", "-1 ESPIPE", "%s",
            OUT(splice(quick[0], &at, second[1], NULL, 1, 0)));
    outcome("vmsplice", "100", "%s", OUT(vmsplice(second[1], &(struct iovec){block, 100}, 1, 0)));
    while (read(second[0], block, CAPACITY) > 0)
        continue;
    outcome("splice from an empty pipe", "-1 EAGAIN", "%s",
            OUT(splice(second[0], NULL, quick[1], NULL, 1, SPLICE_F_NONBLOCK)));
    close(second[1]);
    outcome("pipe: read when the writer is gone", "0", "%s", OUT(read(second[0], buffer, 1)));
    outcome("splice when the writer is gone", "0", "%s", OUT(splice(second[0], NULL, quick[1], NULL, 1, 0)));
    close(second[0]);

    handle(SIGPIPE, SIG_IGN, 0);
    close(quick[0]);
    outcome("pipe: write when the reader is gone", "-1 EPIPE", "%s", OUT(write(quick[1], buffer, 1)));
    handled = 0;
    handle(SIGPIPE, count_signal, 0);
    outcome("pipe: the same with a handler", "-1 EPIPE 1", "%s",
            BOTH(OUT(write(quick[1], buffer, 1)), number(handled)));
    handle(SIGPIPE, SIG_IGN, 0);
    close(quick[1]);
}

static char fifo[64];

static void *open_to_read(void *argument)
{
    (void)argument;
    arrive();
    int file = open(fifo, O_RDONLY);
    event(file >= 0 ? "opened" : "failed");
    close(file);
    return NULL;
}

static void named(void)
{
    struct worker reader;
    snprintf(fifo, sizeof fifo, "/tmp/semantics-fifo-%ld", (long)getpid());
    outcome("mkfifo", "0", "%s", OUT(mkfifo(fifo, 0600)));
    outcome("fifo: open to write without a reader", "-1 ENXIO", "%s", OUT(open(fifo, O_WRONLY | O_NONBLOCK)));
    outcome("fifo: open, interrupted", "-1 EINTR", "%s", ({
                handle(SIGUSR1, count_signal, 0);
                INTERRUPTED(SIGUSR1, OUT(open(fifo, O_RDONLY)));
            }));
    start(&reader, open_to_read, NULL);
    until_asleep(&reader);
    event("opening");
    int file = open(fifo, O_WRONLY);
    finish(&reader);
    outcome("fifo: open waits for the other end", "opening opened", "%s", events());
    close(file);
    unlink(fifo);
}

void pipes(void)
{
    if (pipe(ends) != 0)
        return;
    memset(block, 'b', sizeof block);
    blocking();
    restarted();
    close(ends[0]);
    close(ends[1]);
    without_blocking();
    named();
}
