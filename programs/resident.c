// How much memory a process has resident at once: a block is mapped, touched and given back, again and again.
// The peak is that of one block, whatever all of them together were. Arguments: seconds, how it ends
// (`return` or `killed`), MiB of a block.
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "truth.h"

// The peak as /proc has it: of this image alone.
static long peak_kib(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "VmHWM: %ld", &kib);
    if (status)
        fclose(status);
    return kib;
}

KEPT static void touch(size_t bytes)
{
    volatile char *block =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        exit(1);
    for (size_t at = 0; at < bytes; at += 4096)
        block[at] = 1;
    munmap((void *)block, bytes);
}

// So many that their sum is far off the peak.
enum { LEAST_BLOCKS = 4 };

int main(int argc, char **argv)
{
    double seconds = seconds_argument(argc, argv, 1, 0.3);
    const char *how = argc > 2 ? argv[2] : "return";
    size_t mib = argc > 3 ? (size_t)atol(argv[3]) : 64;
    long blocks = 0;
    do {
        touch(mib << 20);
        blocks++;
    } while (process_cpu() < seconds || blocks < LEAST_BLOCKS);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"blocks\":%ld,\"peak_kib\":%ld,\"maxrss_kib\":%ld,\"faults\":%ld}\n", blocks, peak_kib(),
           usage.ru_maxrss, usage.ru_minflt);
    fflush(stdout);
    if (how[0] == 'k')
        kill(getpid(), SIGKILL);
    return 0;
}
