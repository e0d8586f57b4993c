/*
 * Processes made and changed in every way: forks from threads, hundreds of children, vfork, clone, an exec
 * loop, daemons, limits, closed descriptors, job control, confinement.
 * hostile_processes [CASE …]
 */
#include "hostile_processes/cases.h"

int status_of(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static void *does_nothing(void *argument) { return argument; }

/* One after the other. */
static int many_threads(int count)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, does_nothing, NULL) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    return 0;
}

static void *named(void *name)
{
    pthread_setname_np(pthread_self(), name);
    burn_cpu(0.1);
    return NULL;
}

/* Names that a terminal, a table or a parser could take for something else. */
static int odd_names(void)
{
    static char names[][16] = {"\x1b[31mred", "\xff\xfe",  "a\nb\tc", "\"quoted\",'", "",
                               "|a|b\\",      "\r\x07\x08"};
    pthread_t threads[7];
    for (int i = 0; i < 7; i++)
        pthread_create(&threads[i], NULL, named, names[i]);
    for (int i = 0; i < 7; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct hostile_case cases[] = {CASE(fork_from_threads),
                                                CASE(threads_in_a_child_of_a_thread),
                                                CASE(five_hundred_children),
                                                CASE(borrowed_memory),
                                                CASE(clones),
                                                CASE(exec_loop),
                                                CASE(exec_from_a_thread_is_the_whole_process),
                                                CASE(closes_everything),
                                                CASE(sixteen_descriptors),
                                                CASE(little_address_space),
                                                CASE(little_file_size),
                                                CASE(stopped_and_continued),
                                                CASE(empty_environment),
                                                CASE(of_no_interest_to_others),
                                                CASE(another_user),
                                                CASE(another_root),
                                                CASE(system_calls_are_killed),
                                                {NULL, NULL}};
    if (argc == 3 && strcmp(argv[1], "again") == 0)
        return again(atoi(argv[2]));
    if (argc == 2 && strcmp(argv[1], "daemon") == 0) {
        outlives_its_parent();
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "threads") == 0)
        return many_threads(atoi(argv[2]));
    if (argc == 2 && strcmp(argv[1], "names") == 0)
        return odd_names();
    return run_cases(cases, argc, argv);
}
