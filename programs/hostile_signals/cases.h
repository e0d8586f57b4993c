/* What the groups of hostile_signals share, and their cases. */
#ifndef PROUST_PROGRAMS_HOSTILE_SIGNALS_H
#define PROUST_PROGRAMS_HOSTILE_SIGNALS_H

#include "../hostile.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

enum { RAISED = 200 };

/* Signals that arrived, by number, and those that this process never sent. */
extern volatile sig_atomic_t hits[65], foreign;

/* Only what this process sent may arrive. */
void count(int number, siginfo_t *info, void *context);
void count_plainly(int number);
void handle(int number, void (*handler)(int, siginfo_t *, void *), int flags);

/* So much CPU time, with all vector registers in use. */
void compute_for(double seconds);

/* One image of `exec_with_handlers`. */
int chain(int left);

void alternate_stacks_of_every_size(void);
void a_thread_for_all_signals(void);
void after_exec(void);
void blocked(void);
void borrowed_by_a_child(void);
void both_numbers(void);
void both_waited_for(void);
void every_number(void);
void exec_with_handlers(void);
void failing_sampler(void);
void faults_are_handled(void);
void handed_to_children(void);
void inherited(void);
void interrupted_calls(void);
void interval_timers(void);
void jumped_out_of(void);
void mask_of_a_handler(void);
void masks_of_handlers_set_before(void);
void names(void);
void nested(void);
void nothing_set_at_the_start(void);
void once_only(void);
void own_handler(void);
void own_timers(void);
void paused_for(void);
void pending_without_a_handler(void);
void queued(void);
void small_fibers(void);
void tiles_on_a_usual_alternate_stack(void);
void tiny_alternate_stack(void);
void usual_alternate_stack(void);
void waited_for(void);
void waits_are_not_cut_short(void);
void waits_with_masks(void);

#endif
