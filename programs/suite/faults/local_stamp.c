/* Lines of an access log are parsed by threads, and the bytes sent in each hour of the week are summed up. */
#include <pthread.h>

#include "../suite.h"

enum { BLOCK = 2000, BLOCKS = 450, HOURS = 168, MOST = 64 };

struct totals {
    double bytes[HOURS];
    long failed;
};

static char (*block)[64];
static int blocks, next_block;
static struct totals totals[MOST];

static void make_block(void)
{
    uint64_t state = 88172645463325252;
    block = calloc(BLOCK, sizeof *block);
    for (int line = 0; line < BLOCK; line++) {
        uint64_t random = next_random(&state);
        snprintf(block[line], sizeof *block, "2026-%02d-%02d %02d:%02d:%02d %d %d", (int)(random % 12) + 1,
                 (int)(random >> 8 & 0xff) % 28 + 1, line % 24, line % 60, line % 59, line % 50 ? 200 : 404,
                 (int)(random >> 32) & 0xffff);
    }
}

static NOINLINE time_t seconds_of(const char *line, char **rest)
{
    struct tm when = {.tm_isdst = -1};
    when.tm_year = (int)strtol(line, rest, 10) - 1900;
    when.tm_mon = (int)strtol(*rest + 1, rest, 10) - 1;
    when.tm_mday = (int)strtol(*rest + 1, rest, 10);
    when.tm_hour = (int)strtol(*rest + 1, rest, 10);
    when.tm_min = (int)strtol(*rest + 1, rest, 10);
    when.tm_sec = (int)strtol(*rest + 1, rest, 10);
    return mktime(&when); /* FAULT: takes the lock of the time zone and asks the system for its file */
}

static NOINLINE void add_line(struct totals *totals, const char *line)
{
    char *rest;
    time_t seconds = seconds_of(line, &rest);
    long status = strtol(rest, &rest, 10), bytes = strtol(rest, &rest, 10);
    totals->bytes[seconds / 3600 % HOURS] += bytes;
    totals->failed += status >= 400;
}

static void *work(void *totals)
{
    while (__atomic_fetch_add(&next_block, 1, __ATOMIC_RELAXED) < blocks)
        for (int line = 0; line < BLOCK; line++)
            add_line(totals, block[line]);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t team[MOST];
    threads = threads < MOST ? threads : MOST;
    blocks = BLOCKS * processors();
    make_block();
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, work, &totals[i]);
    double bytes = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(team[i], NULL);
        for (int hour = 0; hour < HOURS; hour++)
            bytes += totals[i].bytes[hour];
        totals[0].failed += i ? totals[i].failed : 0;
    }
    printf("%.0f bytes, %ld failed\n", bytes, totals[0].failed);
    free(block);
    return 0;
}
