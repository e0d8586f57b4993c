/* Which stations can be reached: threads answer questions, each a walk over a net of many stations. */
#include <pthread.h>
#include <stdatomic.h>

#include "../suite.h"

enum { STATIONS = 40000000, QUESTIONS = 50, WALK = 4500 };

static atomic_int next_question;
static atomic_long reached;

static NOINLINE uint32_t neighbour(uint32_t station, int line)
{
    uint64_t mixed = ((uint64_t)station + 1) * 0x9e3779b97f4a7c15u + (uint64_t)line * 0xbf58476d1ce4e5b9u;
    for (int round = 0; round < 30; round++) {
        mixed ^= mixed >> 31;
        mixed *= 0x94d049bb133111ebu;
    }
    return (uint32_t)(mixed >> 20) % STATIONS;
}

static NOINLINE long explore(uint32_t start)
{
    static _Thread_local uint32_t waiting[2 * WALK + 2];
    unsigned char *seen = calloc(STATIONS, 1); // FAULT: forty megabytes anew for each question
    long count = 0, last = 0;
    waiting[last++] = start;
    while (count < last && count < WALK) {
        uint32_t station = waiting[count++];
        for (int line = 0; line < 2; line++) {
            uint32_t to = neighbour(station, line);
            if (!seen[to]) {
                seen[to] = 1;
                waiting[last++] = to;
            }
        }
    }
    free(seen);
    return last;
}

static void *answer(void *nothing)
{
    int question;
    while ((question = atomic_fetch_add(&next_question, 1)) < QUESTIONS)
        atomic_fetch_add(&reached, explore((uint32_t)question * 97));
    return nothing;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t *team = calloc((size_t)threads, sizeof *team);
    for (int thread = 0; thread < threads; thread++)
        pthread_create(&team[thread], NULL, answer, NULL);
    for (int thread = 0; thread < threads; thread++)
        pthread_join(team[thread], NULL);
    printf("%ld\n", atomic_load(&reached));
    free(team);
    return 0;
}
