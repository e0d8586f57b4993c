/* What the groups of hostile_processes share, and their cases. */
#ifndef PROUST_PROGRAMS_HOSTILE_PROCESSES_H
#define PROUST_PROGRAMS_HOSTILE_PROCESSES_H

#include "../hostile.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

int status_of(pid_t child);

/* One image of a loop of them. */
int again(int left);
/* Goes on when everybody else has ended, and leaves a file. */
void outlives_its_parent(void);

void another_root(void);
void another_user(void);
void borrowed_memory(void);
void clones(void);
void closes_everything(void);
void empty_environment(void);
void exec_from_a_thread_is_the_whole_process(void);
void exec_loop(void);
void five_hundred_children(void);
void fork_from_threads(void);
void little_address_space(void);
void little_file_size(void);
void of_no_interest_to_others(void);
void sixteen_descriptors(void);
void stopped_and_continued(void);
void system_calls_are_killed(void);
void threads_in_a_child_of_a_thread(void);

#endif
