/* What the hostile programs share: cases by name, that check themselves and say what they saw. */
#ifndef PROUST_PROGRAMS_HOSTILE_H
#define PROUST_PROGRAMS_HOSTILE_H

#include "truth.h"

#include <errno.h>
#include <string.h>

struct hostile_case {
    const char *name;
    void (*run)(void);
};

#define CASE(name) {#name, name}

/* One of each for all files of a program. */
__attribute__((weak)) const char *case_now = "";
__attribute__((weak)) int wrong;

/* Says what was checked, and what was seen if it is not as it should be. */
#define CHECK_IS(seen, expected)                                                                             \
    do {                                                                                                     \
        long check_seen = (long)(seen), check_expected = (long)(expected);                                   \
        if (check_seen == check_expected) {                                                                  \
            printf("%s: %s is %ld\n", case_now, #seen, check_expected);                                      \
        } else {                                                                                             \
            printf("%s: WRONG: %s is %ld, not %ld\n", case_now, #seen, check_seen, check_expected);          \
            wrong++;                                                                                         \
        }                                                                                                    \
        fflush(stdout);                                                                                      \
    } while (0)

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        int check_holds = !!(condition);                                                                     \
        printf("%s: %s%s\n", case_now, check_holds ? "" : "WRONG: not so: ", #condition);                    \
        wrong += !check_holds;                                                                               \
        fflush(stdout);                                                                                      \
    } while (0)

/* What this machine does not let the program do. */
#define NOT_HERE(what)                                                                                       \
    do {                                                                                                     \
        printf("%s: not possible here: %s\n", case_now, what);                                               \
        fflush(stdout);                                                                                      \
        return;                                                                                              \
    } while (0)

/* A thread that does nothing but work. */
static __attribute__((unused)) void *burns(void *seconds)
{
    burn_cpu(*(double *)seconds);
    return NULL;
}

/* Runs the cases named by the arguments, or all; the last line is the truth of this process. */
static __attribute__((unused)) int run_cases(const struct hostile_case *cases, int argc, char **argv)
{
    for (const struct hostile_case *one = cases; one->name != NULL; one++) {
        int asked = argc < 2;
        for (int i = 1; i < argc; i++)
            asked |= strcmp(argv[i], one->name) == 0;
        if (!asked)
            continue;
        case_now = one->name;
        one->run();
    }
    printf("{\"pid\":%d,\"cpu_s\":%.6f}\n", (int)getpid(), process_cpu());
    fflush(stdout);
    return wrong == 0 ? 0 : 1;
}

#endif
