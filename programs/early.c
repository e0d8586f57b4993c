/*
 * A library to be preloaded, whose constructor runs before those of libraries that were preloaded before
 * it: it opens a plugin, and where EARLY_FORBIDS is set it forbids the process to read the time-stamp
 * counter.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

void *opened_early;

static void __attribute__((constructor)) begins(void)
{
    const char *plugin = getenv("EARLY_OPENS");
    if (plugin != NULL)
        opened_early = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    if (getenv("EARLY_FORBIDS") != NULL)
        syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}
