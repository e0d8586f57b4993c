/*
 * I/O whose bytes, calls, errors and seconds are known: files, /dev/null, pipes, unix sockets, one
 * descriptor that leads to several of them, stdio, and two threads over a pipe where one waits for the
 * other.
 * io [SECONDS of the two threads] [SCALE of the counts]
 *
 * Prints per operation and kind of target: calls, bytes, errors, and seconds in the calls by
 * CLOCK_MONOTONIC. The calls of one operation follow each other directly and are timed together, so that a
 * clock is read once for hundreds of calls. For stdio it prints the calls of the program, and how many of
 * them the file's own offset shows to have gone beyond the stream's buffer: the others touched memory only.
 */
#include "truth.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { OPERATIONS = 128, BLOCK = 4096 };

struct truth {
    const char *operation, *target;
    uint64_t calls, bytes, errors, beyond;
    double seconds;
};

static struct truth truths[OPERATIONS];
static int truths_count, unexpected;
static char block[16 * BLOCK];
static int scale = 1;

static struct truth *truth_of(const char *operation, const char *target)
{
    for (int i = 0; i < truths_count; i++)
        if (strcmp(truths[i].operation, operation) == 0 && strcmp(truths[i].target, target) == 0)
            return &truths[i];
    if (truths_count == OPERATIONS)
        exit(2);
    truths[truths_count] = (struct truth){operation, target, 0, 0, 0, 0, 0};
    return &truths[truths_count++];
}

/* `times` calls, each of which returns `expected`, and fails where that is -1, and transfers `moved` bytes.
   */
#define MANY_OF(operation, target, times, expected, moved, call)                                             \
    do {                                                                                                     \
        struct truth *many_truth = truth_of(operation, target);                                              \
        long many_times = (times), many_expected = (expected);                                               \
        double many_began = wall();                                                                          \
        for (long turn = 0; turn < many_times; turn++)                                                       \
            unexpected += (long)(call) != many_expected;                                                     \
        many_truth->seconds += wall() - many_began;                                                          \
        many_truth->calls += (uint64_t)many_times;                                                           \
        many_truth->errors += many_expected < 0 ? (uint64_t)many_times : 0;                                  \
        many_truth->bytes += (uint64_t)(many_times * (moved));                                               \
    } while (0)
/* The same calls on a stream: where its file's offset is another one afterwards, the call went beyond the
   buffer. */
#define ON_STREAM_OF(operation, times, expected, moved, call)                                                \
    do {                                                                                                     \
        struct truth *stream_truth = truth_of(operation, "stream");                                          \
        long stream_times = (times);                                                                         \
        for (long turn = 0; turn < stream_times; turn++) {                                                   \
            off_t stream_at = lseek(fileno(file), 0, SEEK_CUR);                                              \
            MANY_OF(operation, "stream", 1, expected, moved, call);                                          \
            stream_truth->beyond += lseek(fileno(file), 0, SEEK_CUR) != stream_at;                           \
        }                                                                                                    \
    } while (0)
#define ON_STREAM(operation, times, bytes, call) ON_STREAM_OF(operation, times, bytes, bytes, call)
/* Calls that return how many bytes they moved. */
#define MANY(operation, target, times, bytes, call) MANY_OF(operation, target, times, bytes, bytes, call)
/* Calls that fail. */
#define FAILING(operation, target, times, call) MANY_OF(operation, target, times, -1, 0, call)
/* A call that returns 0 and moves nothing. */
#define ONCE(operation, target, call) MANY_OF(operation, target, 1, 0, 0, call)

/* One call that returns a new descriptor. */
static int opened(const char *operation, const char *target, int file, double began)
{
    struct truth *truth = truth_of(operation, target);
    truth->seconds += wall() - began;
    truth->calls++;
    unexpected += file < 0;
    return file;
}

static char folder[] = "/tmp/proust-io-XXXXXX";

static void on_files(void)
{
    const long n = 200L * scale;
    struct iovec two[2] = {{block, BLOCK}, {block + BLOCK, BLOCK}};
    double began = wall();
    int file = opened("open", "file", open("data", O_RDWR | O_CREAT | O_TRUNC, 0600), began);
    MANY("write", "file", n, BLOCK, write(file, block, BLOCK));
    MANY("pwrite", "file", n, 100, pwrite(file, block, 100, turn * 100));
    MANY("writev", "file", n, 2 * BLOCK, writev(file, two, 2));
    MANY("pwritev", "file", n, 2 * BLOCK, pwritev(file, two, 2, 0));
    ONCE("fsync", "file", fsync(file));
    ONCE("fdatasync", "file", fdatasync(file));
    lseek(file, 0, SEEK_SET);
    MANY("read", "file", n, BLOCK, read(file, block, BLOCK));
    MANY("read", "file", n, 1, read(file, block, 1));
    MANY("pread", "file", n, 100, pread(file, block, 100, turn * 100));
    lseek(file, 0, SEEK_SET);
    MANY("readv", "file", n, 2 * BLOCK, readv(file, two, 2));
    MANY("preadv", "file", n, 2 * BLOCK, preadv(file, two, 2, 0));
    /* At the end of the file: no bytes, and no error. */
    lseek(file, 0, SEEK_END);
    MANY("read", "file", n, 0, read(file, block, BLOCK));

    began = wall();
    int copy = opened("open", "file", open("copy", O_RDWR | O_CREAT | O_TRUNC, 0600), began);
    off_t at = 0;
    MANY("sendfile", "file", n, BLOCK, (at = 0, sendfile(copy, file, &at, BLOCK)));
    off64_t from = 0, to = 0;
    MANY("copy_file_range", "file", n, BLOCK,
         (from = to = 0, copy_file_range(file, &from, copy, &to, BLOCK, 0)));

    /* Errors, each of its kind. */
    FAILING("read", "none", n, read(-1, block, 1));
    FAILING("pread", "none", n, pread(-1, block, 1, 0));
    FAILING("write", "none", n, write(-1, block, 1));
    FAILING("open", "none", n, open("nothing/at/all", O_RDONLY));
    FAILING("close", "none", n, close(-1));
    MANY_OF("getentropy", "none", n, 0, 64, getentropy(block, 64));
    FAILING("getentropy", "none", n, getentropy(block, 257));
    ONCE("close", "file", close(copy));
    ONCE("close", "file", close(file));
}

static void on_devices(void)
{
    const long n = 1000L * scale;
    double began = wall();
    int null = opened("open", "/dev/null", open("/dev/null", O_RDWR), began);
    began = wall();
    int zero = opened("open", "/dev/zero", open("/dev/zero", O_RDONLY), began);
    MANY("write", "/dev/null", n, 7, write(null, block, 7));
    MANY("read", "/dev/null", n, 0, read(null, block, BLOCK));
    MANY("read", "/dev/zero", n, 1, read(zero, block, 1));
    MANY("read", "/dev/zero", n, BLOCK, read(zero, block, BLOCK));
    ONCE("close", "/dev/null", close(null));
    ONCE("close", "/dev/zero", close(zero));
}

/* Within one thread: what is written is there when it is read, nobody waits. */
static void on_pipes(void)
{
    const long n = 200L * scale;
    int ends[2], others[2];
    if (pipe2(ends, O_NONBLOCK) != 0 || pipe2(others, O_NONBLOCK) != 0)
        exit(2);
    for (long i = 0; i < n; i++) {
        MANY("write", "pipe", 10, 100, write(ends[1], block, 100));
        MANY("read", "pipe", 1, 1000, read(ends[0], block, BLOCK));
    }
    FAILING("read", "pipe", n, read(ends[0], block, 1));
    for (long i = 0; i < n; i++) {
        MANY("write", "pipe", 1, BLOCK, write(ends[1], block, BLOCK));
        MANY("tee", "pipe", 1, BLOCK, tee(ends[0], others[1], BLOCK, 0));
        MANY("read", "pipe", 1, BLOCK, read(others[0], block, BLOCK));
        MANY("splice", "pipe", 1, BLOCK, splice(ends[0], NULL, others[1], NULL, BLOCK, 0));
        MANY("read", "pipe", 1, BLOCK, read(others[0], block, BLOCK));
    }
    MANY("write", "pipe", 1, 65536, write(ends[1], block, sizeof block));
    FAILING("write", "pipe", n, write(ends[1], block, 1));
    ONCE("close", "pipe", close(ends[0]));
    /* Nobody reads any more; SIGPIPE is ignored. */
    FAILING("write", "pipe", n, write(ends[1], block, 1));
    ONCE("close", "pipe", close(ends[1]));
    ONCE("close", "pipe", close(others[0]));
    ONCE("close", "pipe", close(others[1]));
}

static void on_sockets(void)
{
    const long n = 200L * scale;
    int ends[2];
    struct iovec one = {block, 300};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        exit(2);
    for (long i = 0; i < n; i++) {
        MANY("send", "socket", 10, 100, send(ends[0], block, 100, 0));
        MANY("recv", "socket", 1, 1000, recv(ends[1], block, 1000, MSG_WAITALL));
        MANY("sendto", "socket", 1, 200, sendto(ends[0], block, 200, 0, NULL, 0));
        MANY("recvfrom", "socket", 1, 200, recvfrom(ends[1], block, BLOCK, 0, NULL, NULL));
        MANY("sendmsg", "socket", 1, 300, sendmsg(ends[0], &message, 0));
        MANY("recvmsg", "socket", 1, 300, recvmsg(ends[1], &message, 0));
        MANY("write", "socket", 1, 50, write(ends[0], block, 50));
        MANY("read", "socket", 1, 50, read(ends[1], block, BLOCK));
    }
    FAILING("recv", "socket", n, recv(ends[1], block, 1, MSG_DONTWAIT));
    ONCE("close", "socket", close(ends[1]));
    FAILING("send", "socket", n, send(ends[0], block, 1, MSG_NOSIGNAL));
    ONCE("close", "socket", close(ends[0]));
}

/* One descriptor that leads to something else each time. */
static void on_one_descriptor(void)
{
    const long n = 200L * scale;
    int ends[2];
    double began = wall();
    int zero = opened("open", "/dev/zero", open("/dev/zero", O_RDONLY), began);
    began = wall();
    int null = opened("open", "/dev/null", open("/dev/null", O_RDWR), began);
    if (zero < 0 || null < 0 || pipe2(ends, O_NONBLOCK) != 0)
        exit(2);
    int place = fcntl(zero, F_DUPFD, 100);
    MANY("read", "/dev/zero", n, 10, read(place, block, 10));
    dup2(ends[1], place);
    MANY("write", "pipe", n, 10, write(place, block, 10));
    dup3(null, place, O_CLOEXEC);
    MANY("write", "/dev/null", n, 10, write(place, block, 10));
    ONCE("close", "/dev/null", close(place));
    FAILING("write", "none", n, write(place, block, 10));
    ONCE("close", "/dev/null", close(null));
    ONCE("close", "/dev/zero", close(zero));
    ONCE("close", "pipe", close(ends[0]));
    ONCE("close", "pipe", close(ends[1]));
}

/* The calls of the program; the buffers make fewer of them. */
static void on_streams(void)
{
    const long n = 5000L * scale;
    FILE *file = NULL;
    char line[64];
    ONCE("fopen", "stream", (file = fopen("stream", "w+")) == NULL);
    ON_STREAM("fwrite", n, 100, fwrite(block, 1, 100, file));
    ON_STREAM_OF("fputs", n, 0, 15, fputs("a line of text\n", file) < 0);
    ON_STREAM("fprintf", n, 11, fprintf(file, "%010ld\n", turn + many_times));
    ON_STREAM_OF("fputc", n, 'c', 1, fputc('c', file));
    ONCE("fflush", "stream", fflush(file));
    rewind(file);
    ON_STREAM("fread", n, 100, fread(block, 1, 100, file));
    ON_STREAM("fgets", n, 15, fgets(line, sizeof line, file) ? (long)strlen(line) : -1);
    ON_STREAM("fgets", n, 11, fgets(line, sizeof line, file) ? (long)strlen(line) : -1);
    ON_STREAM_OF("fgetc", n, 'c', 1, fgetc(file));
    ONCE("fclose", "stream", fclose(file));

    /* Within the buffer, beyond it, and by lines. */
    memset(block, 'x', sizeof block);
    ONCE("fopen", "stream", (file = fopen("stream", "w+")) == NULL);
    ON_STREAM("fwrite", n, 3, (fwrite_unlocked)(block, 1, 3, file));
    ON_STREAM("fwrite", n / 100, 50 * 200, (fwrite(block, 50, 200, file) * 50));
    ONCE("fflush", "stream", fflush(file));
    setvbuf(file, NULL, _IOLBF, 4096);
    ON_STREAM_OF("fputs", n, 0, 4, fputs("part", file) < 0);
    ON_STREAM_OF("fputs", n, 0, 5, fputs("line\n", file) < 0);
    ONCE("fflush", "stream", fflush(file));
    rewind(file);
    ON_STREAM("fread", n, 3, (fread_unlocked)(block, 1, 3, file));
    ON_STREAM("fread", n / 100, 50 * 200, (fread(block, 50, 200, file) * 50));
    char *whole = NULL;
    size_t room = 0;
    ON_STREAM("getline", 1, 4 * n + 5, getline(&whole, &room, file));
    ON_STREAM("getline", n / 2, 5, getline(&whole, &room, file));
    ON_STREAM("fgets", n / 4, 5, fgets_unlocked(line, sizeof line, file) ? (long)strlen(line) : -1);
    ON_STREAM("fgets", n / 4 - 1, 5, fgets(line, 6, file) ? (long)strlen(line) : -1);
    free(whole);
    ONCE("fclose", "stream", fclose(file));
    ONCE("fopen", "stream", (file = fopen("/dev/full", "w")) == NULL);
    ON_STREAM_OF("fputs", 1, 0, 4, fputs("lost", file) < 0);
    FAILING("fclose", "stream", 1, fclose(file));
}

/*
 * Two threads over a pipe: the writer works 5 ms for each message, the reader waits for it. Then the other
 * way round: the writer has to wait because the pipe is full and the reader slow. Each times its own calls,
 * one by one.
 */
struct side {
    long tid;
    double seconds, wall_s, cpu_s;
    uint64_t calls, bytes;
};
static struct side slow_writer, waiting_reader, waiting_writer, slow_reader;
static int wire[2];
static long messages;

static void transfer(struct side *side, ssize_t (*call)(int, void *, size_t), int file, size_t size)
{
    double began = wall();
    ssize_t length = call(file, block, size);
    side->seconds += wall() - began;
    side->calls++;
    if (length > 0)
        side->bytes += (uint64_t)length;
}

static ssize_t write_to(int file, void *data, size_t size) { return write(file, data, size); }

static void settle(struct side *side, double began)
{
    side->tid = thread_id();
    side->wall_s = wall() - began;
    side->cpu_s = thread_cpu();
}

KEPT static void *write_slowly(void *argument)
{
    double began = wall();
    for (long i = 0; i < messages; i++) {
        burn_cpu(0.005);
        transfer(&slow_writer, write_to, wire[1], 512);
    }
    settle(&slow_writer, began);
    return argument;
}

KEPT static void *read_waiting(void *argument)
{
    double began = wall();
    while (waiting_reader.bytes < (uint64_t)messages * 512)
        transfer(&waiting_reader, read, wire[0], 512);
    settle(&waiting_reader, began);
    return argument;
}

KEPT static void *write_waiting(void *argument)
{
    double began = wall();
    for (long i = 0; i < messages; i++)
        transfer(&waiting_writer, write_to, wire[1], sizeof block);
    settle(&waiting_writer, began);
    return argument;
}

KEPT static void *read_slowly(void *argument)
{
    static char own[sizeof block];
    double began = wall();
    while (slow_reader.bytes < (uint64_t)messages * sizeof block) {
        size_t filled = 0;
        burn_cpu(0.005);
        while (filled < sizeof own) {
            double called = wall();
            ssize_t length = read(wire[0], own + filled, sizeof own - filled);
            slow_reader.seconds += wall() - called;
            slow_reader.calls++;
            if (length <= 0)
                exit(2);
            filled += (size_t)length;
        }
        slow_reader.bytes += filled;
    }
    settle(&slow_reader, began);
    return argument;
}

static void over_a_pipe(void *(*first)(void *), void *(*second)(void *))
{
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, first, NULL) != 0 ||
        pthread_create(&threads[1], NULL, second, NULL) != 0)
        exit(2);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

static void print_side(const char *name, const char *operation, const struct side *side, const char *after)
{
    printf("{\"tid\":%ld,\"name\":\"%s\",\"operation\":\"%s\",\"calls\":%llu,\"bytes\":%llu,\"seconds\":%.6f,"
           "\"wall_s\":%.6f,\"cpu_s\":%.6f}%s",
           side->tid, name, operation, (unsigned long long)side->calls, (unsigned long long)side->bytes,
           side->seconds, side->wall_s, side->cpu_s, after);
}

int main(int argc, char **argv)
{
    double began = wall(), seconds = seconds_argument(argc, argv, 1, 0.5);
    scale = argc > 2 ? atoi(argv[2]) : 1;
    signal(SIGPIPE, SIG_IGN);
    memset(block, 'b', sizeof block);
    double opening = wall();
    int home = opened("open", "folder", open(".", O_RDONLY | O_DIRECTORY), opening);
    if (home < 0 || mkdtemp(folder) == NULL || chdir(folder) != 0)
        return 2;
    on_files();
    on_devices();
    on_pipes();
    on_sockets();
    on_one_descriptor();
    on_streams();
    unlink("data");
    unlink("copy");
    unlink("stream");
    if (fchdir(home) != 0 || rmdir(folder) != 0)
        return 2;
    ONCE("close", "folder", close(home));

    messages = (long)(seconds / 2 / 0.005) + 1;
    if (pipe(wire) != 0)
        return 2;
    over_a_pipe(write_slowly, read_waiting);
    over_a_pipe(write_waiting, read_slowly);

    printf("{\"program\":\"io\",\"unexpected\":%d,\"operations\":[", unexpected);
    for (int i = 0; i < truths_count; i++)
        printf("%s{\"operation\":\"%s\",\"target\":\"%s\",\"calls\":%llu,\"bytes\":%llu,\"errors\":%llu,"
               "\"beyond\":%llu,\"seconds\":%.6f}",
               i ? "," : "", truths[i].operation, truths[i].target, (unsigned long long)truths[i].calls,
               (unsigned long long)truths[i].bytes, (unsigned long long)truths[i].errors,
               (unsigned long long)truths[i].beyond, truths[i].seconds);
    printf("],\"threads\":[");
    print_side("slow-writer", "write", &slow_writer, ",");
    print_side("waiting-reader", "read", &waiting_reader, ",");
    print_side("waiting-writer", "write", &waiting_writer, ",");
    print_side("slow-reader", "read", &slow_reader, "");
    printf("],\"cpu_s\":%.6f,\"wall_s\":%.6f}\n", process_cpu(), wall() - began);
    return unexpected != 0;
}
