/*
 * Much time in the kernel beside time in the program, told apart by getrusage.
 * syscalls [SECONDS]
 */
#include "truth.h"

#include <fcntl.h>
#include <sys/resource.h>

static double user_s, system_s, reads_s, asks_s, computes_s, reads_system_s, asks_system_s, computes_system_s;

static void read_usage(double *user, double *system)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    *user = (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
    *system = (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec;
}

static double system_now(void)
{
    double user, system;
    read_usage(&user, &system);
    return system;
}

/* Nearly all of it is the kernel clearing the buffer. */
KEPT void reads_zeros(double seconds, char *buffer, size_t size)
{
    int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    double end = thread_cpu() + seconds;
    do
        for (int i = 0; i < 50; i++)
            if (read(zeros, buffer, size) != (ssize_t)size)
                exit(1);
    while (thread_cpu() < end);
    close(zeros);
}

/* Many cheap system calls: the price is the way in and out. */
KEPT void asks_for_parent(double seconds)
{
    double end = thread_cpu() + seconds;
    do
        for (int i = 0; i < 2000; i++)
            syscall(SYS_getppid);
    while (thread_cpu() < end);
}

/* Something must follow the call, or it becomes a jump and this function is in no call path. */
KEPT void computes(double seconds)
{
    burn_cpu(seconds);
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    static char buffer[64 * 1024];
    double began = wall(), seconds = seconds_argument(argc, argv, 1, 1.0);
    for (int round = 0; round < 4; round++) {
        double start = thread_cpu(), system_start = system_now();
        reads_zeros(seconds / 12, buffer, sizeof buffer);
        double after_reads = thread_cpu(), system_after_reads = system_now();
        asks_for_parent(seconds / 12);
        double after_asks = thread_cpu(), system_after_asks = system_now();
        computes(seconds / 12);
        reads_system_s += system_after_reads - system_start;
        asks_system_s += system_after_asks - system_after_reads;
        computes_system_s += system_now() - system_after_asks;
        reads_s += after_reads - start;
        asks_s += after_asks - after_reads;
        computes_s += thread_cpu() - after_asks;
    }
    read_usage(&user_s, &system_s);
    printf("{\"program\":\"syscalls\",\"inclusive\":{\"reads_zeros\":%.6f,\"asks_for_parent\":%.6f,"
           "\"computes\":%.6f},"
           "\"system\":{\"reads_zeros\":%.6f,\"asks_for_parent\":%.6f,\"computes\":%.6f},"
           "\"user_s\":%.6f,\"system_s\":%.6f,\"cpu_s\":%.6f,\"wall_s\":%.6f}\n",
           reads_s, asks_s, computes_s, reads_system_s, asks_system_s, computes_system_s, user_s, system_s,
           process_cpu(), wall() - began);
    return 0;
}
