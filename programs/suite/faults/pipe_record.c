/* One process draws events and sends them through a pipe to another, which keeps statistics of them. */
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"

struct event {
    uint32_t kind;
    float energy;
};

static struct event draw(uint64_t *state)
{
    uint64_t number = next_random(state);
    return (struct event){(uint32_t)(number >> 58), (float)refine((double)(number & 1023), 30)};
}

static NOINLINE void send_all(int to, long count)
{
    uint64_t state = 20261127;
    for (long i = 0; i < count; i++) {
        struct event event = draw(&state);
        if (write(to, &event, sizeof event) != sizeof event) /* FAULT: a system call for eight bytes */
            abort();
    }
}

static NOINLINE double take_all(int from)
{
    double sums[64] = {0}, spread = 0;
    struct event events[512];
    ssize_t size;
    while ((size = read(from, events, sizeof events)) > 0)
        for (size_t i = 0; i < (size_t)size / sizeof *events; i++) {
            double energy = refine(events[i].energy, 30);
            sums[events[i].kind] += energy;
            spread += fabs(energy - 1);
        }
    for (int kind = 1; kind < 64; kind++)
        sums[0] += sums[kind] * kind;
    return sums[0] + spread;
}

int main(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        send_all(ends[1], 2000000);
        _exit(0);
    }
    close(ends[1]);
    printf("%.3f\n", take_all(ends[0]));
    waitpid(child, NULL, 0);
    return 0;
}
