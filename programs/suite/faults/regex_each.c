/* The lines of a web server's log are searched for those of crawlers, which are counted by the hour. */
#include <omp.h>
#include <regex.h>

#include "../suite.h"

enum { LINES = 230000, WIDTH = 128, HOURS = 24 };

static const char *agents[] = {
    "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101", "Mozilla/5.0 (compatible; Examplebot/2.1)",
    "curl/7.88.1", "Opera/9.80 (Windows NT 6.1) Presto/2.12", "Lynx/2.9", "news-spider/0.4 (+http://n.org)",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)",
};
static const char crawler[] =
    "\"(([A-Za-z]+bot|[a-z-]+(spider|crawler))/[0-9.]+|.*compatible; [A-Z][a-z]+bot/[0-9]+)";

static char (*make_log(void))[WIDTH]
{
    uint64_t state = 88172645463325252;
    char(*lines)[WIDTH] = malloc(sizeof *lines * LINES);
    for (int i = 0; i < LINES; i++) {
        uint64_t random = next_random(&state);
        int second = (int)(i * 86400l / LINES);
        snprintf(lines[i], WIDTH, "10.0.%d.%d [%02d:%02d:%02d] /page%d 200 \"%s\"", (int)(random % 200),
                 (int)(random >> 16 & 255), second / 3600, second / 60 % 60, second % 60,
                 (int)(random >> 32 & 1023), agents[random >> 48 & 7 ? (random >> 48) % 7 : 1]);
    }
    return lines;
}

static NOINLINE int is_crawler(const char *line)
{
    regex_t pattern;
    const char *agent = strchr(line, '"');
    regcomp(&pattern, crawler, REG_EXTENDED | REG_NOSUB); /* FAULT: the same pattern for each line */
    int is_found = regexec(&pattern, agent, 0, NULL, 0) == 0;
    regfree(&pattern);
    return is_found;
}

static int hour_of(const char *line)
{
    const char *clock = strchr(line, '[');
    return (clock[1] - '0') * 10 + clock[2] - '0';
}

static NOINLINE void count_hours(char (*lines)[WIDTH], int threads, long *counts)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic, 200) reduction(+ : counts[:HOURS])
    for (int i = 0; i < LINES; i++)
        if (is_crawler(lines[i]))
            counts[hour_of(lines[i])]++;
}

int main(int argc, char **argv)
{
    char(*lines)[WIDTH] = make_log();
    long counts[HOURS] = {0}, all = 0;
    count_hours(lines, threads_asked(argc, argv), counts);
    int busiest = 0;
    for (int hour = 0; hour < HOURS; hour++) {
        all += counts[hour];
        if (counts[hour] > counts[busiest])
            busiest = hour;
    }
    printf("%ld by crawlers, most at %d\n", all, busiest);
    free(lines);
    return 0;
}
