/*
 * Opens a library with marks, twice, and closes it.
 * marks_opened SECONDS
 */
#include "truth.h"
#include <dlfcn.h>

static double seconds;

KEPT static void work(void) { burn_cpu(seconds / 2); }

int main(int argc, char **argv)
{
    seconds = seconds_argument(argc, argv, 1, 1);
    double all = 0;
    for (int n = 0; n < 2; n++) {
        void *library = dlopen("libmarked.so", RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        void (*marked)(void (*)(void));
        *(void **)&marked = dlsym(library, "marked");
        double begin = wall();
        marked(work);
        all += wall() - begin;
        dlclose(library);
    }
    printf("{\"intervals\":{\"in library[4]\":{\"executions\":2,\"time_s\":%.9f}}}\n", all);
    return 0;
}
