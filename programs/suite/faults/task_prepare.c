/* Messages arrive packed by differences and run lengths; one thread makes a task for each, all threads score.
   Its fault: who makes the tasks also unpacks the messages, which takes longer than to score them. */
#include <omp.h>

#include "../suite.h"

enum { MESSAGES = 3000, PACKED = 60000, LENGTH = 4 * PACKED };

struct message {
    int count;
    int16_t sample[LENGTH];
};

static unsigned char packed[PACKED];

static void make_packed(void)
{
    uint64_t state = 88172645463325252;
    for (int i = 0; i < PACKED; i++)
        packed[i] = (unsigned char)next_random(&state);
}

/* A byte has a difference in its upper bits and in its lower ones how often it comes. */
static NOINLINE void unpack(struct message *message, int number)
{
    int value = number, count = 0;
    for (int i = 0; i < PACKED; i++) {
        int difference = (packed[(i + number * 31) % PACKED] >> 2) - 32;
        for (int repeat = packed[i] & 3; repeat >= 0; repeat--) {
            value = (value * 15 + difference * (i % 7 + 1)) / 16;
            message->sample[count++] = (int16_t)value;
        }
    }
    message->count = count;
}

/* Looks at every third sample only. */
static NOINLINE long score(const struct message *message)
{
    long sum = 0;
    for (int i = 3; i < message->count; i += 3) {
        int step = message->sample[i] - message->sample[i - 3];
        sum += (long)sqrt((double)step * step + i % 5);
    }
    return sum;
}

static NOINLINE long score_all(int threads)
{
    long total = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int number = 0; number < MESSAGES; number++) {
        struct message *message = malloc(sizeof *message);
        unpack(message, number); /* FAULT: one thread unpacks all, and the tasks wait for it */
#pragma omp task firstprivate(message) shared(total)
        {
            long points = score(message);
#pragma omp atomic
            total += points;
            free(message);
        }
    }
    return total;
}

int main(int argc, char **argv)
{
    make_packed();
    printf("%ld points\n", score_all(threads_asked(argc, argv)));
    return 0;
}
