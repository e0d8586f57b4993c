/* Cases about texts: one that is searched to its end for each number, and a pattern that is compiled for each
   line. */
#include "cases.h"

#include <regex.h>

/* text-scanning: sscanf looks for the end of the whole text each time; repaired, strtol goes on from where it
   was. */
enum { NUMBERS = 20000 };

static double scanned_s;

KEPT static long read_by_scanning(const char *text)
{
    long sum = 0, number;
    int length;
    double since = thread_cpu();
    for (; sscanf(text, "%ld%n", &number, &length) == 1; text += length)
        sum += number;
    scanned_s += thread_cpu() - since;
    return sum;
}

KEPT static long read_by_place(const char *text)
{
    long sum = 0;
    for (char *end;; text = end) {
        long number = strtol(text, &end, 10);
        if (end == text)
            return sum;
        sum += number;
    }
}

static void read_numbers(double seconds, long (*read_all)(const char *))
{
    char *text = malloc(8 * NUMBERS), *end = text;
    if (text == NULL)
        exit(2);
    for (int i = 0; i < NUMBERS; i++)
        end += sprintf(end, "%d ", i % 100000);
    for (double until = thread_cpu() + seconds; thread_cpu() < until;) {
        kept_result += (uint64_t)read_all(text);
        burn_cpu(0.005);
    }
    free(text);
    has_lost(scanned_s);
}

static void text_scanning(double seconds) { read_numbers(seconds, read_by_scanning); }
static void text_scanning_repaired(double seconds) { read_numbers(seconds, read_by_place); }

/* repeated-preparation: a pattern is compiled for each line; repaired, once for all. */
static const char *const line = "GET /index.html HTTP/1.1";
static double prepared_s;

KEPT static void compile(regex_t *pattern)
{
    double since = thread_cpu();
    if (regcomp(pattern, "^(GET|HEAD|POST) /[a-z0-9./_-]{1,40} HTTP/1\\.[01]$", REG_EXTENDED) != 0)
        exit(2);
    prepared_s += thread_cpu() - since;
}

static void match_lines(double seconds, int each)
{
    regex_t pattern;
    compile(&pattern);
    for (double until = thread_cpu() + seconds; thread_cpu() < until;) {
        for (int i = 0; i < 50; i++) {
            if (each) {
                regfree(&pattern);
                compile(&pattern);
            }
            kept_result += regexec(&pattern, line, 0, NULL, 0) == 0;
        }
        burn_cpu(0.0003);
    }
    regfree(&pattern);
    has_lost(prepared_s);
}

static void repeated_preparation(double seconds) { match_lines(seconds, 1); }
static void repeated_preparation_repaired(double seconds) { match_lines(seconds, 0); }

const struct finding_case text_cases[] = {
    {"text-scanning", text_scanning, text_scanning_repaired},
    {"repeated-preparation", repeated_preparation, repeated_preparation_repaired},
    {NULL, NULL, NULL},
};
