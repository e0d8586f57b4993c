/*
 * A program that loads libraries with parallel regions, as its arguments say: local:FILE, lazy:FILE,
 * global:FILE, deep:FILE open one, run:FILE lets it work, close:FILE closes it, own lets the program itself
 * work if it has regions of its own. It prints what came out. What is behind the functions that each
 * library calls is asked of whoever stands in front of them, if that answers, and goes to standard error:
 * library, function, and the file that holds what is behind it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include "checked.h"
#endif

#define MOST 32

static struct {
    const char *file;
    void *handle;
} loaded[MOST];
static int count;

static const char *const functions[] = {
    "GOMP_parallel",
    "GOMP_barrier",
    "GOMP_task",
    "GOMP_taskwait",
    "GOMP_critical_start",
    "GOMP_critical_end",
    "GOMP_loop_dynamic_next",
    "GOMP_loop_nonmonotonic_dynamic_next",
    "GOMP_ordered_start",
    "GOMP_ordered_end",
    "GOMP_sections_next",
    "GOMP_sections_end",
    "GOMP_loop_end",
    "GOMP_single_copy_start",
    "GOMP_single_copy_end",
    "GOMP_atomic_start",
    "GOMP_atomic_end",
    "GOMP_parallel_loop_nonmonotonic_dynamic",
    "GOMP_parallel_sections",
    "omp_set_lock",
    "omp_unset_lock",
    "omp_set_nest_lock",
    "omp_unset_nest_lock",
    "omp_test_nest_lock",
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void ask_behind(void *address)
{
    void *(*behind)(const void *, const char *) =
        (void *(*)(const void *, const char *))dlsym(RTLD_DEFAULT, "proust_function_behind");
    Dl_info caller, provider;
    if (!behind || !address || !dladdr(address, &caller))
        return;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = behind(address, functions[i]);
        if (found && dladdr(found, &provider))
            fprintf(stderr, "behind %s %s %s\n", base_name(caller.dli_fname), functions[i],
                    base_name(provider.dli_fname));
    }
}

static void *handle_of(const char *file)
{
    for (int i = count - 1; i >= 0; i--)
        if (!strcmp(loaded[i].file, file) && loaded[i].handle)
            return loaded[i].handle;
    fprintf(stderr, "runtimes: %s is not loaded\n", file);
    exit(2);
}

static void load(const char *file, int flags)
{
    void *handle = dlopen(file, flags);
    if (!handle || count == MOST) {
        fprintf(stderr, "runtimes: %s\n", handle ? "too many" : dlerror());
        exit(2);
    }
    loaded[count].file = file;
    loaded[count++].handle = handle;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    for (int i = 1; i < argc; i++) {
        char *what = argv[i], *file = strchr(what, ':');
        if (file)
            file++;
        if (!strncmp(what, "local:", 6)) {
            load(file, RTLD_NOW | RTLD_LOCAL);
        } else if (!strncmp(what, "lazy:", 5)) {
            load(file, RTLD_LAZY | RTLD_LOCAL);
        } else if (!strncmp(what, "global:", 7)) {
            load(file, RTLD_NOW | RTLD_GLOBAL);
        } else if (!strncmp(what, "deep:", 5)) {
            load(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
        } else if (!strncmp(what, "run:", 4)) {
            void *handle = handle_of(file);
            int (*work)(const char *) = (int (*)(const char *))dlsym(handle, "work_of_module");
            wrong += work ? work(base_name(file)) : 1;
            ask_behind((void *)work);
            ask_behind(dlsym(handle, "work_of_leaf"));
        } else if (!strncmp(what, "close:", 6)) {
            void *handle = handle_of(file);
            for (int l = 0; l < count; l++)
                if (loaded[l].handle == handle)
                    loaded[l].handle = NULL;
            dlclose(handle);
#ifdef _OPENMP
        } else if (!strcmp(what, "own")) {
            wrong += print_outcome("program", all_constructs());
            ask_behind((void *)main);
#endif
        } else {
            fprintf(stderr, "runtimes: what is %s?\n", what);
            return 2;
        }
    }
    fflush(stdout);
    return wrong ? 1 : 0;
}
