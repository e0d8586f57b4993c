/* The system is asked too often. */
#include "cases.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* system-storm: the protection of a page is changed all the time; repaired, now and then. */
static char *page;

KEPT static void protect_page(int writable)
{
    mprotect(page, 4096, writable ? PROT_READ | PROT_WRITE : PROT_READ);
}

static void protect(double seconds, int every)
{
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t x = 1;
    int writable = 0;
    for (double until = thread_cpu() + seconds; thread_cpu() < until;)
        for (int i = 0; i < 1000; i++) {
            if (i % every == 0)
                protect_page(writable = !writable);
            BURN(x, 50);
        }
    kept_result = x;
}

static void system_storm(double seconds) { protect(seconds, 1); }
static void system_storm_repaired(double seconds) { protect(seconds, 1000); }

/* tiny-io: eight bytes a call; repaired, many at once. */
static int file;
static char buffer[1 << 16];

KEPT static void write_number(uint64_t number)
{
    if (write(file, &number, sizeof number) < 0)
        exit(2);
}

KEPT static void write_buffer(void)
{
    if (write(file, buffer, sizeof buffer) < 0)
        exit(2);
}

static void tiny_io(double seconds)
{
    file = own_file();
    uint64_t x = 1;
    double lost = 0;
    for (double until = thread_cpu() + seconds; thread_cpu() < until;) {
        double since = wall();
        for (int i = 0; i < 500; i++)
            write_number((uint64_t)i);
        lost += wall() - since;
        BURN(x, 200000);
        if (lseek(file, 0, SEEK_SET) < 0)
            exit(2);
    }
    has_lost(lost);
    kept_result = x;
    close(file);
}

static void tiny_io_repaired(double seconds)
{
    file = own_file();
    uint64_t x = 1;
    for (double until = thread_cpu() + seconds; thread_cpu() < until;) {
        BURN(x, 400000);
        buffer[x % sizeof buffer] = (char)x;
        write_buffer();
        if (lseek(file, 0, SEEK_SET) < 0)
            exit(2);
    }
    kept_result = x;
    close(file);
}

/* much-io: a table is read again for each part of the work; repaired, once. */
enum { TABLE_BLOCKS = 256 };

KEPT static uint64_t read_table(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < TABLE_BLOCKS; i++) {
        if (pread(file, buffer, sizeof buffer, (off_t)i * (off_t)sizeof buffer) != sizeof buffer)
            exit(2);
        sum += (uint64_t)buffer[i];
    }
    return sum;
}

static void tables(double seconds, int each)
{
    enum { PARTS = 20 };
    file = own_file();
    for (int i = 0; i < TABLE_BLOCKS; i++)
        write_buffer();
    double lost = 0;
    uint64_t sum = 0;
    for (int i = 0; i < PARTS; i++) {
        double since = wall();
        if (each || i == 0)
            do
                sum += read_table();
            while (each && wall() - since < seconds / PARTS);
        lost += each ? wall() - since : 0;
        burn_cpu(seconds / PARTS);
    }
    has_lost(lost);
    kept_result = sum;
    close(file);
}

static void much_io(double seconds) { tables(seconds, 1); }
static void much_io_repaired(double seconds) { tables(seconds, 0); }

/* file-churn: the file is opened for each number; repaired, once. */
static char path[] = "/tmp/proust-findings-XXXXXX";

KEPT static void append_number(int number)
{
    FILE *opened = fopen(path, "r+");
    if (opened == NULL || fprintf(opened, "%d\n", number) < 0 || fclose(opened) != 0)
        exit(2);
}

static void file_churn(double seconds)
{
    int made = mkstemp(path);
    if (made < 0)
        exit(2);
    uint64_t x = 1;
    double lost = 0;
    for (double until = thread_cpu() + seconds; thread_cpu() < until;) {
        double since = wall();
        for (int i = 0; i < 100; i++)
            append_number(i);
        lost += wall() - since;
        BURN(x, 200000);
    }
    has_lost(lost);
    kept_result = x;
    unlink(path);
    close(made);
}

static void file_churn_repaired(double seconds)
{
    FILE *opened = tmpfile();
    uint64_t x = 1;
    for (double until = thread_cpu() + seconds; thread_cpu() < until;) {
        rewind(opened);
        for (int i = 0; i < 100; i++)
            if (fprintf(opened, "%d\n", i) < 0)
                exit(2);
        BURN(x, 200000);
    }
    kept_result = x;
    fclose(opened);
}

/* unread-output: two processes send what they find, and the first is read to its end before the second;
   repaired, each byte is read when it is there. */
enum { SENT_BYTES = 4096, SENT_TIMES = 100 };

static void send_all(int to, double seconds)
{
    static const char found[SENT_BYTES];
    double lost = 0;
    for (int i = 0; i < SENT_TIMES; i++) {
        burn_cpu(seconds / SENT_TIMES);
        double since = wall();
        if (write(to, found, sizeof found) != (ssize_t)sizeof found)
            _exit(2);
        lost += wall() - since;
    }
    has_lost(lost);
}

static int reads_some(int from)
{
    static char taken[SENT_BYTES];
    return read(from, taken, sizeof taken) > 0;
}

KEPT static void read_one_by_one(const int from[2])
{
    for (int i = 0; i < 2; i++)
        while (reads_some(from[i]))
            ;
}

KEPT static void read_as_it_comes(const int from[2])
{
    struct pollfd both[2] = {{.fd = from[0], .events = POLLIN}, {.fd = from[1], .events = POLLIN}};
    while (both[0].fd >= 0 || both[1].fd >= 0) {
        if (poll(both, 2, -1) < 0)
            exit(2);
        for (int i = 0; i < 2; i++)
            if (both[i].fd >= 0 && both[i].revents != 0 && !reads_some(both[i].fd))
                both[i].fd = -1;
    }
}

static void two_senders(double seconds, void (*read_all)(const int *))
{
    int from[2];
    for (int i = 0; i < 2; i++) {
        int ends[2];
        if (pipe(ends) != 0)
            exit(2);
        pid_t child = fork();
        if (child == 0) {
            send_all(ends[1], seconds);
            _exit(0);
        }
        if (child < 0)
            exit(2);
        close(ends[1]);
        from[i] = ends[0];
    }
    read_all(from);
    while (wait(NULL) > 0)
        ;
}

static void unread_output(double seconds) { two_senders(seconds, read_one_by_one); }
static void unread_output_repaired(double seconds) { two_senders(seconds, read_as_it_comes); }

/* round-trips: a process answers a while after it was asked, and each question is sent when the one before is
   answered; repaired, all are sent at once. */
enum { QUESTIONS = 100, ANSWER_MS = 5 };

static void answer_late(int with)
{
    char asked[QUESTIONS];
    ssize_t count;
    while ((count = read(with, asked, sizeof asked)) > 0) {
        poll(NULL, 0, ANSWER_MS);
        if (write(with, asked, (size_t)count) != count)
            _exit(2);
    }
    _exit(0);
}

KEPT static void fetch_answer(int with)
{
    char one = 1;
    if (write(with, &one, 1) != 1 || read(with, &one, 1) != 1)
        exit(2);
}

KEPT static void take_answer(int with)
{
    char one;
    if (read(with, &one, 1) != 1)
        exit(2);
}

static void ask(double seconds, int at_once)
{
    static const char questions[QUESTIONS];
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        exit(2);
    pid_t child = fork();
    if (child < 0)
        exit(2);
    if (child == 0) {
        close(ends[0]);
        answer_late(ends[1]);
    }
    close(ends[1]);
    if (at_once && write(ends[0], questions, sizeof questions) != (ssize_t)sizeof questions)
        exit(2);
    for (int i = 0; i < QUESTIONS; i++) {
        if (at_once)
            take_answer(ends[0]);
        else
            fetch_answer(ends[0]);
        burn_cpu(seconds / QUESTIONS);
    }
    close(ends[0]);
    waitpid(child, NULL, 0);
}

static void round_trips(double seconds) { ask(seconds, 0); }
static void round_trips_repaired(double seconds) { ask(seconds, 1); }

/* sync-storm: the file is made safe after each line; repaired, at the end. */
KEPT static void make_safe(void)
{
    if (fsync(file) != 0)
        exit(2);
}

static void lines(double seconds, int each)
{
    file = own_file();
    double lost = 0;
    for (int i = 0; i < 60; i++) {
        if (write(file, buffer, 100) < 0)
            exit(2);
        burn_cpu(seconds / 60);
        if (each || i == 59) {
            double since = wall();
            make_safe();
            lost += wall() - since;
        }
    }
    has_lost(lost);
    close(file);
}

static void sync_storm(double seconds) { lines(seconds, 1); }
static void sync_storm_repaired(double seconds) { lines(seconds, 0); }

const struct finding_case system_cases[] = {
    {"system-storm", system_storm, system_storm_repaired},
    {"tiny-io", tiny_io, tiny_io_repaired},
    {"much-io", much_io, much_io_repaired},
    {"file-churn", file_churn, file_churn_repaired},
    {"unread-output", unread_output, unread_output_repaired},
    {"round-trips", round_trips, round_trips_repaired},
    {"sync-storm", sync_storm, sync_storm_repaired},
    {NULL, NULL, NULL},
};
