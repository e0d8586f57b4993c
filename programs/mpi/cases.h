/* What the parts of the MPI semantics program share: lines that are compared, and checks. */
#ifndef PROUST_PROGRAMS_MPI_CASES_H
#define PROUST_PROGRAMS_MPI_CASES_H

#include "../truth.h"

#include <mpi.h>
#include <stdarg.h>
#include <string.h>

/* This process and its partner: the program runs with two. */
extern int rank, partner;

/* Writes a line of the output, which must be the same with and without a tool. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What must hold by the standard, whoever watches. */
#define CHECK(what)                                                                                          \
    do {                                                                                                     \
        if (!(what))                                                                                         \
            say("WRONG %s:%d %s", strrchr("/" __FILE__, '/') + 1, __LINE__, #what);                          \
    } while (0)

/* The class of an error. */
int class_of(int code);

/* Writes down everything of a status that a program can see. */
void say_status(const char *what, MPI_Status *status);

void blocking_messages(void);
void requests(void);
void errors(void);
void collectives(void);
void communicators(void);
void storage(void);
void threads(int provided);

#endif
