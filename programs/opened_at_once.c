/*
 * Several threads open libraries, look functions up in them, call one, and close them, all at the same time.
 * opened_at_once LIBRARY…    of the kind of newer_library.c; prints what was wrong, and a line of JSON
 */
#include "truth.h"

#include <dlfcn.h>
#include <pthread.h>

enum { THREADS = 6 };

static char **paths;
static int path_count, wrong;
static double until;

static void *opens_and_closes(void *argument)
{
    unsigned chance = (unsigned)(size_t)argument + 1;
    while (wall() < until) {
        int mode = rand_r(&chance) & 64 ? RTLD_NOW : RTLD_LAZY;
        void *library = dlopen(paths[rand_r(&chance) % (unsigned)path_count], mode);
        void *(*reference)(const char *) =
            library ? (void *(*)(const char *))dlsym(library, "by_weak_reference") : NULL;
        /* What is found must be there, and a runtime of OpenMP must not. */
        if (reference == NULL || reference("no such name") != NULL ||
            dlsym(RTLD_DEFAULT, "omp_set_lock") != NULL)
            __sync_add_and_fetch(&wrong, 1);
        if (library != NULL)
            dlclose(library);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    paths = argv + 1;
    path_count = argc - 1;
    if (path_count == 0)
        return 2;
    until = wall() + 2;
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, opens_and_closes, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("{\"program\":\"opened_at_once\",\"wrong\":%d}\n", wrong);
    return wrong != 0;
}
