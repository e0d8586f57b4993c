/* Marks for Proust: intervals of a program, by name, and control of the recording.
 *
 * Include this file; nothing is linked. In a program that `proust record` runs the marks are recorded, in
 * any other one each of them costs a load and a branch. C99 or newer, C++98 or newer, with the extensions of
 * GCC or Clang, on Linux; elsewhere the marks do nothing.
 *
 *     proust_begin("assemble", 3);            // an interval: a name and a number of your own
 *     ...
 *     proust_end("assemble", 3);
 *
 *     proust_begin("solve", PROUST_NO_NUMBER);
 *     proust_begin_parallel("sweep", level);  // work that is distributed over the processors
 *     proust_begin_replicated("setup", 0, 4); // work that 4 processors each do in full; 0 = all ranks
 *     proust_iterations(n);                   // adds n to the iterations of the innermost open interval
 *
 *     proust_pause(); proust_resume();        // recording stops in this process, and goes on
 *     proust_sample("after setup");           // what the process has used and holds, now
 *     proust_name_thread("reader");
 *     proust_elapsed("cpu");                  // seconds of the calling thread; less than 0 = not known
 *
 * In C++ `proust::interval` begins an interval, and ends it where its scope ends:
 *
 *     { proust::interval solving("solve"); ... }
 *
 * An interval belongs to the thread that begins it. Intervals may be nested, repeated and recursive. An end
 * closes the innermost open interval of that name and number, and those that are still open inside it; an end
 * without a begin is ignored and reported. Names may have any bytes but zero; 1023 of them count.
 */
#ifndef PROUST_H
#define PROUST_H

#include <stddef.h>
#include <stdint.h>

/* The number of an interval that has none. */
#define PROUST_NO_NUMBER ((int64_t)(-9223372036854775807LL - 1))

/* A mark, as it is handed to Proust. Fields may be added at the end: `bytes` says how many there are. */
struct proust_mark {
    uint32_t bytes;
    uint32_t line;
    const char *name;
    uint64_t name_bytes; /* All ones: the name ends with a zero byte. */
    const char *file;
    uint64_t file_bytes; /* As above. */
    int64_t number;
    uint32_t kind;   /* 0, 1 = parallel, 2 = replicated */
    uint32_t degree; /* of a replicated interval */
};

/* The functions of a Proust that is present. Later ones have more, at the end. */
struct proust_marks {
    uint32_t bytes;
    uint32_t version;
    void (*begin)(const struct proust_mark *mark);
    void (*end)(const struct proust_mark *mark);
    void (*iterations)(uint64_t count);
    void (*pause)(void);
    void (*resume)(void);
    void (*sample)(const char *label, uint64_t label_bytes);
    void (*name_thread)(const char *name, uint64_t name_bytes);
    double (*elapsed)(const char *account, uint64_t account_bytes);
};

#if defined(__linux__) && defined(__ELF__) && defined(__GNUC__) && \
    (defined(__x86_64__) || defined(__aarch64__)) && !defined(__ILP32__)
#define PROUST_MARKS_WORK 1
#else
#define PROUST_MARKS_WORK 0
#endif

#if PROUST_MARKS_WORK

#ifdef __cplusplus
extern "C" {
#endif

/* A word of each program and library that has marks: the functions, or null. In a library the dynamic linker
 * fills it in, by a weak reference. In a program the linker has settled that reference already: Proust finds
 * the word by the note beside it. No name is searched for, so none can mislead. All files of a program share
 * the word. */
extern const struct proust_marks *const volatile proust_marks_here __attribute__((visibility("hidden")));

/* Link-time optimisation puts several files into one. */
__asm__(".ifndef proust_marks_here\n"
        "\t.pushsection .data.proust_marks,\"aw\",%progbits\n"
        "\t.weak proust_marks_1\n"
        "\t.weak proust_marks_here\n"
        "\t.hidden proust_marks_here\n"
        "\t.type proust_marks_here,%object\n"
        "\t.size proust_marks_here,8\n"
        "\t.balign 8\n"
        "proust_marks_here:\n"
        "\t.8byte proust_marks_1\n"
        "\t.popsection\n"
        "\t.pushsection .note.proust,\"a\",%note\n"
        "\t.balign 4\n"
        "\t.4byte 7, 8, 0x50524f31\n"
        "\t.asciz \"Proust\"\n"
        "\t.balign 4\n"
        "\t.8byte proust_marks_here - .\n"
        "\t.popsection\n"
        "\t.endif");

#define PROUST_MARKS_INLINE static __inline__ __attribute__((always_inline, unused))
#define PROUST_MARKS_PRESENT(marks) __builtin_expect((marks) != NULL, 0)

PROUST_MARKS_INLINE void proust_begin_at(const char *name, int64_t number, uint32_t kind, uint32_t degree,
                                         const char *file, uint32_t line) {
    const struct proust_marks *marks = proust_marks_here;
    if (PROUST_MARKS_PRESENT(marks)) {
        struct proust_mark mark = {(uint32_t)sizeof mark, line,   name, UINT64_MAX, file,
                                   UINT64_MAX,            number, kind, degree};
        marks->begin(&mark);
    }
}

PROUST_MARKS_INLINE void proust_end_at(const char *name, int64_t number, const char *file, uint32_t line) {
    const struct proust_marks *marks = proust_marks_here;
    if (PROUST_MARKS_PRESENT(marks)) {
        struct proust_mark mark = {(uint32_t)sizeof mark, line,   name, UINT64_MAX, file,
                                   UINT64_MAX,            number, 0,    0};
        marks->end(&mark);
    }
}

/* Adds to the iterations of the innermost open interval of the calling thread. */
PROUST_MARKS_INLINE void proust_iterations(uint64_t count) {
    const struct proust_marks *marks = proust_marks_here;
    if (PROUST_MARKS_PRESENT(marks)) {
        marks->iterations(count);
    }
}

/* Recording stops in this process, until proust_resume. */
PROUST_MARKS_INLINE void proust_pause(void) {
    const struct proust_marks *marks = proust_marks_here;
    if (PROUST_MARKS_PRESENT(marks)) {
        marks->pause();
    }
}

/* Recording goes on in this process. */
PROUST_MARKS_INLINE void proust_resume(void) {
    const struct proust_marks *marks = proust_marks_here;
    if (PROUST_MARKS_PRESENT(marks)) {
        marks->resume();
    }
}

/* Samples the process: what it has used and holds, under this label. */
PROUST_MARKS_INLINE void proust_sample(const char *label) {
    const struct proust_marks *marks = proust_marks_here;
    if (PROUST_MARKS_PRESENT(marks)) {
        marks->sample(label, UINT64_MAX);
    }
}

/* Names the calling thread in reports. Its name for the system stays as it is. */
PROUST_MARKS_INLINE void proust_name_thread(const char *name) {
    const struct proust_marks *marks = proust_marks_here;
    if (PROUST_MARKS_PRESENT(marks)) {
        marks->name_thread(name, UINT64_MAX);
    }
}

/* Seconds of the calling thread on an account so far:
 *
 *     wall         since its record began
 *     cpu          processor time; compute: without Proust's own; user, system: by mode
 *     measurement  Proust's own part of it
 *     wait         in calls that wait: for locks, conditions, barriers, threads, times, descriptors, children
 *     io           in reads, writes and other I/O
 *     mpi          in calls of MPI
 *     paused       while recording was paused in this process
 *
 * Calls count when they are over. Free locks are no waits. What a wait counts as (lock, barrier,
 * mpi-partner), serial and idle time, faults, and time without a processor are found by the analysis: of
 * these accounts, and of unknown ones, it is less than 0, and so it is where nothing is recorded. */
PROUST_MARKS_INLINE double proust_elapsed(const char *account) {
    const struct proust_marks *marks = proust_marks_here;
    return PROUST_MARKS_PRESENT(marks) ? marks->elapsed(account, UINT64_MAX) : -1.0;
}

#ifdef __cplusplus
}
#endif

#else

#define PROUST_MARKS_INLINE static inline

PROUST_MARKS_INLINE void proust_begin_at(const char *name, int64_t number, uint32_t kind, uint32_t degree,
                                         const char *file, uint32_t line) {
    (void)name, (void)number, (void)kind, (void)degree, (void)file, (void)line;
}
PROUST_MARKS_INLINE void proust_end_at(const char *name, int64_t number, const char *file, uint32_t line) {
    (void)name, (void)number, (void)file, (void)line;
}
PROUST_MARKS_INLINE void proust_iterations(uint64_t count) { (void)count; }
PROUST_MARKS_INLINE void proust_pause(void) {}
PROUST_MARKS_INLINE void proust_resume(void) {}
PROUST_MARKS_INLINE void proust_sample(const char *label) { (void)label; }
PROUST_MARKS_INLINE void proust_name_thread(const char *name) { (void)name; }
PROUST_MARKS_INLINE double proust_elapsed(const char *account) { return (void)account, -1.0; }

#endif

/* The calling thread begins an interval. */
#define proust_begin(name, number) proust_begin_at((name), (number), 0, 0, __FILE__, __LINE__)
/* The same, of work that is distributed over the processors. */
#define proust_begin_parallel(name, number) proust_begin_at((name), (number), 1, 0, __FILE__, __LINE__)
/* The same, of work that `degree` processors each do in full; 0 = all ranks. */
#define proust_begin_replicated(name, number, degree) \
    proust_begin_at((name), (number), 2, (degree), __FILE__, __LINE__)
/* The calling thread ends it. */
#define proust_end(name, number) proust_end_at((name), (number), __FILE__, __LINE__)

/* Where MPI's header was included before: the same, of work that all ranks of a communicator do in full. */
#ifdef MPI_VERSION
static inline void proust_begin_replicated_in_at(const char *name, int64_t number, MPI_Comm communicator,
                                                 const char *file, uint32_t line) {
    int ranks = 0;
    MPI_Comm_size(communicator, &ranks);
    proust_begin_at(name, number, 2, (uint32_t)ranks, file, line);
}
#define proust_begin_replicated_in(name, number, communicator) \
    proust_begin_replicated_in_at((name), (number), (communicator), __FILE__, __LINE__)
#endif

#ifdef __cplusplus

#if defined(__GNUC__) && (__GNUC__ > 4 || defined(__clang__))
#define PROUST_CALLERS_FILE __builtin_FILE()
#define PROUST_CALLERS_LINE __builtin_LINE()
#else
#define PROUST_CALLERS_FILE ""
#define PROUST_CALLERS_LINE 0
#endif

#if defined(__GNUC__)
#define PROUST_ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define PROUST_ALWAYS_INLINE inline
#endif

namespace proust {

/* What is said of the work in an interval. */
enum kind { plain = 0, parallel = 1, replicated = 2 };

/* An interval that lasts as long as this object. Its name has to live as long. */
class interval {
  public:
    PROUST_ALWAYS_INLINE interval(const char *name, int64_t number = PROUST_NO_NUMBER, kind what = plain,
                                  uint32_t degree = 0, const char *file = PROUST_CALLERS_FILE,
                                  uint32_t line = PROUST_CALLERS_LINE)
        : name_(name), number_(number), file_(file), line_(line) {
        proust_begin_at(name, number, static_cast<uint32_t>(what), degree, file, line);
    }
    PROUST_ALWAYS_INLINE ~interval() { proust_end_at(name_, number_, file_, line_); }

  private:
    interval(const interval &);
    interval &operator=(const interval &);

    const char *name_;
    int64_t number_;
    const char *file_;
    uint32_t line_;
};

} // namespace proust

#endif

#endif
