/*
 * Marks its intervals, and says how long they took by its own clock.
 * marks CASE SECONDS
 *
 * nested     main marks `run`, in it three steps[1..3] with `inner` in each
 * repeated   one interval a thousand times, with iterations
 * recursive  an interval inside of itself, five deep
 * workers    four threads, each in the interval `work` at once
 * idle       one thread computes in an interval, and another one sleeps meanwhile
 * paused     recording is paused for half of an interval
 * unmatched  ends without begins, crossing intervals, one that is left open
 * killed     kills itself in two open intervals
 * often      a million short executions
 * names      names with any bytes, long ones, numbers beyond 32 bits
 * threads    a thousand threads with marks, some at a time
 * fork       children that go on in their parents' intervals: of main, and of another thread
 * handler    a signal's handler has marks, and interrupts other marks
 * helpers    functions that begin and end intervals for their callers
 * replicated work that four processors each do, that two threads each do, and plain work
 * late       one of two threads computes longer in one interval, and the other waits in the next one
 * exec       becomes another program, `nested`, in two open intervals
 * samples    a sample with a label, a name of a thread, and what it knows of itself
 */
#include "proust.h"
#include "truth.h"
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static double seconds;
static int printed;

/* Says how often and how long an interval was executed. */
static void say(const char *label, double executions, double time_s)
{
    printf("%s\"%s\":{\"executions\":%.0f,\"time_s\":%.9f}", printed++ ? "," : "{\"intervals\":{", label,
           executions, time_s);
}

KEPT static void compute(double for_s) { burn_cpu(for_s); }

static void sleep_s(double for_s)
{
    struct timespec time = {(time_t)for_s, (long)((for_s - (double)(time_t)for_s) * 1e9)};
    nanosleep(&time, NULL);
}

KEPT static void step(int64_t number, double for_s, double *steps, double *inners)
{
    double begin = wall();
    proust_begin("step", number);
    compute(0.5 * for_s);
    double inner_begin = wall();
    proust_begin("inner", PROUST_NO_NUMBER);
    compute(0.5 * for_s);
    proust_end("inner", PROUST_NO_NUMBER);
    *inners += wall() - inner_begin;
    proust_end("step", number);
    *steps = wall() - begin;
}

static void nested(void)
{
    double begin = wall(), steps[3], inners = 0;
    proust_begin("run", PROUST_NO_NUMBER);
    for (int n = 0; n < 3; n++)
        step(n + 1, seconds * (n + 1) / 6, &steps[n], &inners);
    proust_end("run", PROUST_NO_NUMBER);
    say("run", 1, wall() - begin);
    for (int n = 0; n < 3; n++) {
        char label[20];
        snprintf(label, sizeof label, "step[%d]", n + 1);
        say(label, 1, steps[n]);
    }
    say("inner", 3, inners);
}

static void repeated(void)
{
    double all = 0;
    for (int n = 0; n < 1000; n++) {
        double begin = wall();
        proust_begin_parallel("sweep", 7);
        compute(seconds / 1000);
        proust_iterations(10);
        proust_end("sweep", 7);
        all += wall() - begin;
    }
    say("sweep[7]", 1000, all);
}

KEPT static double descend(int depth)
{
    double begin = wall();
    proust_begin("descend", PROUST_NO_NUMBER);
    compute(seconds / 5);
    if (depth > 1)
        descend(depth - 1);
    proust_end("descend", PROUST_NO_NUMBER);
    return wall() - begin;
}

static void recursive(void) { say("descend", 5, descend(5)); }

static double worked[4];

static void *worker(void *number)
{
    double begin = wall();
    proust_begin("work", PROUST_NO_NUMBER);
    compute(seconds / 4);
    proust_end("work", PROUST_NO_NUMBER);
    worked[(long)number] = wall() - begin;
    return NULL;
}

static void workers(void)
{
    pthread_t threads[4];
    for (long n = 0; n < 4; n++)
        pthread_create(&threads[n], NULL, worker, (void *)n);
    double all = 0;
    for (int n = 0; n < 4; n++) {
        pthread_join(threads[n], NULL);
        all += worked[n];
    }
    say("work", 4, all);
}

static pthread_barrier_t both;

static void *other(void *nothing)
{
    /* Two processors in use, so that an idle one is seen. */
    compute(0.5 * seconds);
    pthread_barrier_wait(&both);
    sleep_s(0.5 * seconds);
    return nothing;
}

static void idle(void)
{
    pthread_t thread;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, other, NULL);
    double begin = wall();
    proust_begin("both", 1);
    compute(0.5 * seconds);
    pthread_barrier_wait(&both);
    proust_end("both", 1);
    double middle = wall();
    proust_begin("alone", 2);
    compute(0.4 * seconds);
    proust_end("alone", 2);
    double end = wall();
    pthread_join(thread, NULL);
    say("both[1]", 1, middle - begin);
    say("alone[2]", 1, end - middle);
}

static void paused(void)
{
    double begin = wall();
    proust_begin("half", PROUST_NO_NUMBER);
    compute(0.25 * seconds);
    double pause = wall();
    proust_pause();
    proust_begin("unseen", PROUST_NO_NUMBER);
    compute(0.5 * seconds);
    proust_end("unseen", PROUST_NO_NUMBER);
    proust_resume();
    double resumed = wall();
    compute(0.25 * seconds);
    proust_end("half", PROUST_NO_NUMBER);
    say("half", 1, wall() - begin);
    say("paused", 1, resumed - pause);
}

static void unmatched(void)
{
    for (int n = 0; n < 3; n++)
        proust_end("never begun", 9);
    double begin = wall();
    proust_begin("outer", PROUST_NO_NUMBER);
    compute(0.3 * seconds);
    proust_begin("crossing", PROUST_NO_NUMBER);
    compute(0.3 * seconds);
    proust_end("outer", PROUST_NO_NUMBER);
    double end = wall();
    proust_end("crossing", PROUST_NO_NUMBER);
    proust_begin("left open", PROUST_NO_NUMBER);
    double last = wall();
    compute(0.4 * seconds);
    say("outer", 1, end - begin);
    say("left open", 1, wall() - last);
}

static void killed(void)
{
    double begin = wall();
    proust_begin("outer", PROUST_NO_NUMBER);
    compute(0.5 * seconds);
    double middle = wall();
    proust_begin("inner", 5);
    compute(0.5 * seconds);
    sleep_s(0.2 * seconds);
    say("outer", 1, wall() - begin);
    say("inner[5]", 1, wall() - middle);
    printf("}}\n");
    fflush(stdout);
    raise(SIGKILL);
}

static void often(void)
{
    const int MANY = 1000000;
    double begin = wall();
    proust_begin("all", PROUST_NO_NUMBER);
    uint64_t x = kept_result;
    for (int n = 0; n < MANY; n++) {
        proust_begin("short", PROUST_NO_NUMBER);
        BURN(x, 100);
        proust_end("short", PROUST_NO_NUMBER);
    }
    kept_result = x;
    proust_end("all", PROUST_NO_NUMBER);
    double end = wall();
    say("all", 1, end - begin);
    say("short", MANY, end - begin);
}

static void names(void)
{
    static char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    const char *odd[] = {"",         "two words", "with\nline",    "\xff\xfe",
                         "a\"quote", "[3]",       "brackets[4]#5", longest};
    const int64_t numbers[] = {0, -1, INT64_C(1) << 40, INT64_MAX, INT64_MIN + 1, 3, 4, 5};
    double times[8];
    for (int n = 0; n < 8; n++) {
        double begin = wall();
        proust_begin(odd[n], numbers[n]);
        compute(seconds / 8);
        proust_end(odd[n], numbers[n]);
        times[n] = wall() - begin;
    }
    proust_begin(NULL, 1);
    proust_end(NULL, 1);
    say("two words[-1]", 1, times[1]);
    say("brackets[4]#5[4]", 1, times[6]);
}

static void *brief(void *number)
{
    proust_name_thread("brief");
    for (int n = 0; n < 10; n++) {
        proust_begin("brief", (long)number % 3);
        proust_begin("inside", n);
        proust_end("inside", n);
        proust_end("brief", (long)number % 3);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t all[20];
    for (long round = 0; round < 50; round++) {
        for (long n = 0; n < 20; n++)
            pthread_create(&all[n], NULL, brief, (void *)(round * 20 + n));
        for (int n = 0; n < 20; n++)
            pthread_join(all[n], NULL);
    }
    say("brief[0]", 334 * 10, 0);
    say("brief[1]", 333 * 10, 0);
    say("brief[2]", 333 * 10, 0);
}

/* Forks a child in an interval. */
static double family(const char *name)
{
    double begin = wall();
    proust_begin(name, 3);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        proust_begin("child", PROUST_NO_NUMBER);
        compute(0.25 * seconds);
        proust_end("child", PROUST_NO_NUMBER);
        proust_end(name, 3);
        exit(0);
    }
    waitpid(child, NULL, 0);
    compute(0.25 * seconds);
    proust_end(name, 3);
    return wall() - begin;
}

static void *family_of_thread(void *time_s)
{
    *(double *)time_s = family("of a thread");
    return NULL;
}

static void forks(void)
{
    double of_main = family("family"), of_thread = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, family_of_thread, &of_thread);
    pthread_join(thread, NULL);
    say("family[3]", 1, of_main);
    say("of a thread[3]", 1, of_thread);
    say("child", 2, 0);
}

static volatile int handled;

static void on_signal(int signal)
{
    (void)signal;
    proust_begin("in handler", PROUST_NO_NUMBER);
    handled++;
    proust_end("in handler", PROUST_NO_NUMBER);
}

static void handler(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, NULL);
    timer_t timer;
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    struct itimerspec each = {{0, 500000}, {0, 500000}};
    timer_settime(timer, 0, &each, NULL);
    double begin = wall(), end = begin + seconds;
    uint64_t x = kept_result;
    int count = 0;
    while (wall() < end) {
        proust_begin("work", PROUST_NO_NUMBER);
        BURN(x, 50);
        proust_end("work", PROUST_NO_NUMBER);
        count++;
    }
    timer_delete(timer);
    kept_result = x;
    say("work", count, 0);
    say("in handler", handled, 0);
}

KEPT static void begin_phase(const char *name) { proust_begin(name, PROUST_NO_NUMBER); }
KEPT static void end_phase(const char *name) { proust_end(name, PROUST_NO_NUMBER); }

static void helpers(void)
{
    double begin = wall();
    begin_phase("assemble");
    compute(0.5 * seconds);
    end_phase("assemble");
    double middle = wall();
    begin_phase("solve");
    compute(0.5 * seconds);
    end_phase("solve");
    say("assemble", 1, middle - begin);
    say("solve", 1, wall() - middle);
}

static void samples(void)
{
    proust_name_thread("first of all threads");
    compute(0.5 * seconds);
    proust_sample("half done");
    compute(0.5 * seconds);
    double by_clock = thread_cpu(), by_proust = proust_elapsed("cpu");
    say("cpu", 1, by_clock);
    say("elapsed", 1, by_proust);
    say("unknown", 1, proust_elapsed("no such account"));
}

static void *each(void *barrier)
{
    pthread_barrier_wait(barrier);
    proust_begin_replicated("each", PROUST_NO_NUMBER, 0);
    compute(0.3 * seconds);
    proust_end("each", PROUST_NO_NUMBER);
    return NULL;
}

static void replicated(void)
{
    double begin = wall();
    proust_begin_replicated("setup", 3, 4);
    compute(0.5 * seconds);
    proust_begin_replicated("inside", PROUST_NO_NUMBER, 2);
    compute(0.1 * seconds);
    proust_end("inside", PROUST_NO_NUMBER);
    proust_end("setup", 3);
    say("setup[3]", 1, wall() - begin);
    begin = wall();
    proust_begin("plain", PROUST_NO_NUMBER);
    compute(0.3 * seconds);
    proust_end("plain", PROUST_NO_NUMBER);
    say("plain", 1, wall() - begin);
    pthread_t other;
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&other, NULL, each, &barrier);
    each(&barrier);
    pthread_join(other, NULL);
}

static pthread_barrier_t meeting;

static void *meets(void *longer)
{
    pthread_barrier_wait(&meeting);
    proust_begin("uneven", PROUST_NO_NUMBER);
    compute((longer ? 0.6 : 0.1) * seconds);
    proust_end("uneven", PROUST_NO_NUMBER);
    double begin = wall();
    proust_begin("meet", PROUST_NO_NUMBER);
    pthread_barrier_wait(&meeting);
    proust_end("meet", PROUST_NO_NUMBER);
    if (!longer)
        say("waited", 1, wall() - begin);
    return NULL;
}

static void late(void)
{
    pthread_t other;
    pthread_barrier_init(&meeting, NULL, 2);
    pthread_create(&other, NULL, meets, &meeting);
    meets(NULL);
    pthread_join(other, NULL);
}

static const char *own_path;

static void becomes(void)
{
    char text[32];
    proust_begin("outer", PROUST_NO_NUMBER);
    proust_begin("until exec", 7);
    compute(0.5 * seconds);
    snprintf(text, sizeof text, "%f", 0.5 * seconds);
    execl(own_path, own_path, "nested", text, (char *)NULL);
    _exit(3);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"nested", nested},   {"repeated", repeated}, {"recursive", recursive}, {"workers", workers},
        {"idle", idle},       {"paused", paused},     {"unmatched", unmatched}, {"killed", killed},
        {"often", often},     {"names", names},       {"threads", threads},     {"fork", forks},
        {"handler", handler}, {"helpers", helpers},   {"samples", samples},     {"replicated", replicated},
        {"exec", becomes},    {"late", late},
    };
    seconds = seconds_argument(argc, argv, 2, 1);
    own_path = argv[0];
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        if (argc > 1 && strcmp(argv[1], cases[n].name) == 0) {
            cases[n].run();
            printf("}}\n");
            return 0;
        }
    fprintf(stderr, "marks CASE SECONDS\n");
    return 2;
}
