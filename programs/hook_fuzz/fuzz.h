/* What the parts of the fuzzer share. */
#ifndef PROUST_PROGRAMS_HOOK_FUZZ_H
#define PROUST_PROGRAMS_HOOK_FUZZ_H

#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MOST_ARGUMENTS = 12, MOST_HOOKS = 1024 };

/* An argument as the library's list describes it: `name: type as grammar(of other)`. */
struct argument {
    char name[24], type[48], grammar[16], of[2][24];
    int parameters;
};

struct hook {
    char name[64], family[96], result[32];
    struct argument arguments[MOST_ARGUMENTS];
    int count;
};

/* plan.c */
int read_plan(const char *path, struct hook *hooks, int most);
uint64_t hash_of(const void *bytes, size_t length, uint64_t begin);
extern uint64_t own_thread; /* the number of the thread that makes the calls */
uint64_t hash_of_words(const void *words, size_t count, uint64_t begin);

/* Numbers that depend on nothing but what they are begun with. */
struct chance {
    uint64_t state;
};
uint64_t draw(struct chance *chance);
uint64_t below(struct chance *chance, uint64_t limit);

/* state.c: what a call finds, the same in each process, and what it left. */
void prepare_state(void);
void fresh_state(void);
void leave_state(void);
uint64_t digest_of_memory(void);
uint64_t digest_of_descriptors(void);
uint64_t digest_of_signals(void);
/* An address as it is shown: that of the arena in full, others not at all. */
const char *shown_address(const void *address, char *text, size_t length);

/* Where a fault was. */
const char *shown_fault(const void *address, char *text, size_t length);

/* The arena's pieces, at addresses that are the same in each process. */
extern char *const ARENA;
enum {
    PAGE = 4096,
    AT_STRUCTURES = 0,        /* 4 pages, readable and writable */
    AT_BUFFER = 4 * PAGE,     /* 4 pages, the same, and nothing behind them */
    AT_NOTHING = 8 * PAGE,    /* a page that nobody may touch */
    AT_CONSTANT = 9 * PAGE,   /* a page that may only be read */
    AT_EDGE = 10 * PAGE,      /* a page, and nothing behind it */
    AT_END = 11 * PAGE,
    ARENA_BYTES = 12 * PAGE,
};

/* arguments.c */
void make_arguments(const struct hook *hook, struct chance *chance, long *values, char *shown, size_t room);

/* Objects that the arguments lead to. */
enum { STREAMS = 5 };
extern FILE *streams[STREAMS];
extern void *folder;
extern unsigned long ended_thread;

#endif
