/*
 * Tasks and frames of ITT, by Intel's own header and library.
 * foreign-itt SECONDS
 *
 * `step` three times, `inner` of another domain in each; two tasks that overlap; a frame; a pause; a thread
 * with a name.
 */
#include "said.h"
#include <ittnotify.h>

static double seconds;
static __itt_domain *domain, *other;

KEPT static void steps(void)
{
    __itt_string_handle *step = __itt_string_handle_create("step");
    __itt_string_handle *inner = __itt_string_handle_create("inner");
    double all = 0, inners = 0;
    for (int n = 0; n < 3; n++) {
        double begin = wall();
        __itt_task_begin(domain, __itt_null, __itt_null, step);
        burn_cpu(seconds / 12);
        double inner_begin = wall();
        __itt_task_begin(other, __itt_null, __itt_null, inner);
        burn_cpu(seconds / 12);
        __itt_task_end(other);
        inners += wall() - inner_begin;
        __itt_task_end(domain);
        all += wall() - begin;
    }
    say("solver: step", 3, all);
    say("other: inner", 3, inners);
}

KEPT static void overlapped(void)
{
    __itt_id one = __itt_id_make(&seconds, 1), two = __itt_id_make(&seconds, 2);
    double begin = wall();
    __itt_task_begin_overlapped(domain, one, __itt_null, __itt_string_handle_create("around"));
    double inner_begin = wall();
    __itt_task_begin_overlapped(domain, two, __itt_null, __itt_string_handle_create("within"));
    burn_cpu(seconds / 6);
    __itt_task_end_overlapped(domain, two);
    say("solver: within", 1, wall() - inner_begin);
    burn_cpu(seconds / 6);
    __itt_task_end_overlapped(domain, one);
    say("solver: around", 1, wall() - begin);
}

KEPT static void frame(void)
{
    __itt_domain *frames = __itt_domain_create("frames");
    double begin = wall();
    for (int n = 0; n < 4; n++) {
        __itt_frame_begin_v3(frames, NULL);
        burn_cpu(seconds / 24);
        __itt_frame_end_v3(frames, NULL);
    }
    say("frames", 4, wall() - begin);
}

int main(int argc, char **argv)
{
    seconds = argc > 1 ? atof(argv[1]) : 0.6;
    __itt_thread_set_name("solver thread");
    domain = __itt_domain_create("solver");
    other = __itt_domain_create("other");
    steps();
    overlapped();
    frame();
    __itt_task_end(domain);                                            /* one too many */
    __itt_task_end_overlapped(domain, __itt_id_make(&seconds, 3));     /* one too many */
    __itt_frame_end_v3(domain, NULL);                                  /* one too many */
    double begin = wall();
    __itt_pause();
    burn_cpu(seconds / 6);
    __itt_resume();
    said(wall() - begin);
    return 0;
}
