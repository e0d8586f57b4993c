/* Threads count words in one table, under one lock, word by word. */
#include <pthread.h>

#include "../suite.h"

#define WORDS 4096

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static long table[WORDS], words_each;

static NOINLINE unsigned word_of(uint64_t *state)
{
    uint64_t hash = next_random(state);
    for (int letter = 0; letter < 12; letter++)
        hash = (hash ^ (hash >> 31)) * 0x9e3779b97f4a7c15u;
    return hash % WORDS;
}

static NOINLINE void add(unsigned word)
{
    pthread_mutex_lock(&guard); /* FAULT: one lock for all, taken for each word */
    table[word]++;
    pthread_mutex_unlock(&guard);
}

static void *read_text(void *seed)
{
    uint64_t state = (uintptr_t)seed;
    for (long i = 0; i < words_each; i++)
        add(word_of(&state));
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t *team = calloc(threads, sizeof *team);
    words_each = 26000000L * processors() / threads;
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, read_text, (void *)(uintptr_t)(1000 + 7 * i));
    for (int i = 0; i < threads; i++)
        pthread_join(team[i], NULL);
    long most = 0;
    for (int word = 0; word < WORDS; word++)
        most = table[word] > most ? table[word] : most;
    printf("%ld\n", most);
    free(team);
    return 0;
}
