/*
 * A program that needs all of its signals: handlers of its own for those that a sampler may want, waits for
 * them, masks in every form, tiny alternate stacks, jumps out of handlers, timers. Each case counts exactly
 * what it sent.
 * hostile_signals [CASE …]
 */
#include "hostile_signals/cases.h"

volatile sig_atomic_t hits[65], foreign;

/* Only what this process sent may arrive. */
void count(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_pid == getpid() &&
        (info->si_code == SI_TKILL || info->si_code == SI_USER || info->si_code == SI_QUEUE))
        hits[number]++;
    else
        foreign++;
}

void count_plainly(int number) { hits[number]++; }

void handle(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = flags | SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

int main(int argc, char **argv)
{
    static const struct hostile_case cases[] = {
        CASE(nothing_set_at_the_start), CASE(blocked), CASE(own_handler), CASE(both_numbers),
        CASE(every_number), CASE(exec_with_handlers), CASE(once_only), CASE(nested),
        CASE(tiny_alternate_stack), CASE(waited_for), CASE(mask_of_a_handler), CASE(waits_with_masks),
        CASE(waits_are_not_cut_short), CASE(jumped_out_of), CASE(faults_are_handled), CASE(interval_timers),
        CASE(own_timers), CASE(queued), CASE(both_waited_for), CASE(a_thread_for_all_signals),
        CASE(pending_without_a_handler), CASE(paused_for), CASE(alternate_stacks_of_every_size),
        CASE(usual_alternate_stack), CASE(tiles_on_a_usual_alternate_stack), CASE(small_fibers),
        CASE(interrupted_calls), CASE(masks_of_handlers_set_before), CASE(borrowed_by_a_child),
        CASE(handed_to_children), CASE(inherited), CASE(names), CASE(after_exec), {NULL, NULL}};
    if (argc == 2 && strcmp(argv[1], "failing_sampler") == 0) {
        case_now = argv[1];
        failing_sampler();
        return wrong == 0 ? 0 : 1;
    }
    if (argc == 3 && strcmp(argv[1], "chain") == 0)
        return chain(atoi(argv[2]));
    /* Each in a process of its own: what one did to its signals is gone. */
    if (argc == 2 && strcmp(argv[1], "each") == 0) {
        int failed = 0;
        for (const struct hostile_case *one = cases; one->run != after_exec; one++) {
            fflush(stdout);
            pid_t child = fork();
            if (child == 0) {
                char *arguments[] = {argv[0], (char *)one->name, NULL};
                return run_cases(cases, 2, arguments);
            }
            int status;
            waitpid(child, &status, 0);
            if (status != 0) {
                printf("%s: WRONG: ended with status %#x\n", one->name, (unsigned)status);
                failed = 1;
            }
            fflush(stdout);
        }
        return failed;
    }
    return run_cases(cases, argc, argv);
}
