/*
 * Programs with one fault each that a finding is about, and the same ones repaired.
 * findings [SECONDS] CASE            the program with the fault
 * findings [SECONDS] CASE-repaired   the same work without it
 * findings [SECONDS] control[-…]     programs without any fault
 *
 * A case is named for its kind of finding; its family is a file under findings/. Prints wall and CPU
 * seconds, and what threads lost by their own clocks where they know it.
 */
#include "findings/cases.h"

double lost_s = -1;
pthread_mutex_t lost_mutex = PTHREAD_MUTEX_INITIALIZER;

static pthread_t threads[MOST_THREADS];
static int threads_count;

void start(void *(*run)(void *), void *argument)
{
    if (threads_count == MOST_THREADS || pthread_create(&threads[threads_count++], NULL, run, argument) != 0)
        exit(2);
}

void join_all(void)
{
    for (int i = 0; i < threads_count; i++)
        pthread_join(threads[i], NULL);
    threads_count = 0;
}

void has_lost(double seconds)
{
    pthread_mutex_lock(&lost_mutex);
    lost_s = (lost_s < 0 ? 0 : lost_s) + seconds;
    pthread_mutex_unlock(&lost_mutex);
}

static int new_file(int flags)
{
    const char *folder = getenv("TMPDIR");
    char name[4096];
    snprintf(name, sizeof name, "%s/findings-XXXXXX", folder ? folder : "/tmp");
    int file = mkostemp(name, flags);
    if (file < 0)
        exit(2);
    unlink(name);
    return file;
}

int own_file(void) { return new_file(0); }

int safe_file(void) { return new_file(O_DSYNC); }

int available(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* control: one thread that works. */
static void control(double seconds) { burn_cpu(seconds); }

/* control-two: two threads that work equally long, if there are two processors. */
static void *control_worker(void *seconds)
{
    burn_cpu(*(double *)seconds);
    return NULL;
}

static void control_two(double seconds)
{
    for (int i = 0; i < 2 && i < available(); i++)
        start(control_worker, &seconds);
    join_all();
}

/* control-phases: two threads that meet at a barrier, each time after as much work. */
static pthread_barrier_t meeting;

static void *control_phase(void *seconds)
{
    for (int i = 0; i < 20; i++) {
        burn_cpu(*(double *)seconds / 20);
        pthread_barrier_wait(&meeting);
    }
    return NULL;
}

static void control_phases(double seconds)
{
    int count = available() > 1 ? 2 : 1;
    pthread_barrier_init(&meeting, NULL, (unsigned)count);
    for (int i = 0; i < count; i++)
        start(control_phase, &seconds);
    join_all();
}

/* control-sleepers: one thread works, others sleep long. */
static void *control_sleeper(void *seconds)
{
    usleep((useconds_t)(*(double *)seconds * 0.8e6));
    return NULL;
}

static void control_sleepers(double seconds)
{
    for (int i = 0; i < 8; i++)
        start(control_sleeper, &seconds);
    burn_cpu(seconds);
    join_all();
}

static const struct finding_case controls[] = {
    {"control", control, control},
    {"control-two", control_two, control_two},
    {"control-phases", control_phases, control_phases},
    {"control-sleepers", control_sleepers, control_sleepers},
    {NULL, NULL, NULL},
};

static const struct finding_case *const families[] = {controls,      lock_cases,   phase_cases,
                                                      waiting_cases, memory_cases, system_cases,
                                                      text_cases};

int main(int argc, char **argv)
{
    double seconds = seconds_argument(argc, argv, 1, 1);
    const char *wanted = argc > 2 ? argv[2] : "control";
    const char *ending = strstr(wanted, "-repaired");
    size_t length = ending ? (size_t)(ending - wanted) : strlen(wanted);
    for (size_t family = 0; family < sizeof families / sizeof *families; family++)
        for (const struct finding_case *one = families[family]; one->name; one++) {
            if (strlen(one->name) != length || strncmp(one->name, wanted, length) != 0)
                continue;
            double began = wall();
            (ending ? one->repaired : one->fault)(seconds);
            printf(
                "{\"program\":\"findings\",\"case\":\"%s\",\"wall_s\":%.6f,\"cpu_s\":%.6f,\"lost_s\":%.6f}\n",
                wanted, wall() - began, process_cpu(), lost_s);
            return 0;
        }
    fprintf(stderr, "findings: no case %s\n", wanted);
    return 2;
}
