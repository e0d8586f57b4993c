/*
 * Two shared libraries, loaded, called and unloaded in turn, so that the second may lie where the first one
 * was.
 * plugins [SECONDS] [reopen | keep]      keep: both stay loaded
 */
#include "truth.h"

#include <dlfcn.h>
#include <string.h>

typedef uint64_t work_function(uint64_t x, uint64_t steps);

struct plugin {
    const char *file, *function;
    void *handle, *address;
    double cpu_s;
};

static void open_plugin(struct plugin *plugin)
{
    plugin->handle = dlopen(plugin->file, RTLD_NOW | RTLD_LOCAL);
    plugin->address = plugin->handle ? dlsym(plugin->handle, plugin->function) : NULL;
    if (plugin->address == NULL) {
        fprintf(stderr, "plugins: %s\n", dlerror());
        exit(1);
    }
}

int main(int argc, char **argv)
{
    double began = wall(), seconds = seconds_argument(argc, argv, 1, 1.0);
    int keep = argc > 2 && strcmp(argv[2], "keep") == 0;
    struct plugin plugins[] = {{"libplugin_a.so", "plugin_a_work", NULL, NULL, 0},
                               {"libplugin_b.so", "plugin_b_work", NULL, NULL, 0}};
    uint64_t x = 1, state = 88172645463325252u;
    long loads = 0, same_address = 0;
    void *last = NULL;
    for (int turn = 0; thread_cpu() < seconds; turn ^= 1) {
        struct plugin *plugin = &plugins[turn];
        if (plugin->handle == NULL) {
            open_plugin(plugin);
            same_address += plugin->address == last;
            last = plugin->address;
            loads++;
        }
        /* A works three times as long as B. */
        uint64_t steps = uneven(&state, (turn ? 50 : 150) * UNIT);
        double before = thread_cpu();
        x = ((work_function *)plugin->address)(x, steps);
        plugin->cpu_s += thread_cpu() - before;
        if (!keep) {
            dlclose(plugin->handle);
            plugin->handle = NULL;
        }
    }
    kept_result = x;
    printf("{\"program\":\"plugins\",\"loads\":%ld,\"same_address\":%ld,"
           "\"functions\":{\"churn_a\":%.6f,\"churn_b\":%.6f},\"cpu_s\":%.6f,\"wall_s\":%.6f}\n",
           loads, same_address, plugins[0].cpu_s, plugins[1].cpu_s, process_cpu(), wall() - began);
    return 0;
}
