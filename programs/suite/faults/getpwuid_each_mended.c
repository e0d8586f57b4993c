/* What belongs to whom: entries of a catalogue of files are rated, and summed up by their owners' names. */
#include <pthread.h>
#include <pwd.h>

#include "../suite.h"

enum { ENTRIES = 600000, OWNERS = 6, NAME = 32, MOST = 64 };

static struct entry {
    uid_t owner;
    double size;
} entries[ENTRIES];

static struct part {
    pthread_t thread;
    int first, last;
    double by_letter[26];
} parts[MOST];

static void make_entries(void)
{
    uint64_t state = 88172645463325252;
    for (int number = 0; number < ENTRIES; number++) {
        entries[number].owner = (uid_t)(next_random(&state) % OWNERS);
        entries[number].size = (double)(next_random(&state) % 100000);
    }
}

/* Each thread keeps the names it has asked for. */
static NOINLINE void owner_name(uid_t owner, char *name)
{
    static _Thread_local char known[OWNERS][NAME];
    struct passwd user, *found = NULL;
    char text[1024];
    if (known[owner][0] == 0) {
        getpwuid_r(owner, &user, text, sizeof text, &found);
        snprintf(known[owner], NAME, "%s", found ? found->pw_name : "nobody");
    }
    memcpy(name, known[owner], NAME);
}

static NOINLINE double rate(const struct entry *entry)
{
    return refine(entry->size, 250);
}

static void *sum_part(void *argument)
{
    struct part *part = argument;
    char name[NAME];
    for (int number = part->first; number < part->last; number++) {
        owner_name(entries[number].owner, name);
        part->by_letter[(name[0] - 'a' + 26) % 26] += rate(&entries[number]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    threads = threads > MOST ? MOST : threads;
    make_entries();
    double sum = 0;
    for (int number = 0; number < threads; number++) {
        parts[number].first = (int)((long)ENTRIES * number / threads);
        parts[number].last = (int)((long)ENTRIES * (number + 1) / threads);
        pthread_create(&parts[number].thread, NULL, sum_part, &parts[number]);
    }
    for (int number = 0; number < threads; number++) {
        pthread_join(parts[number].thread, NULL);
        for (int letter = 0; letter < 26; letter++)
            sum += (letter + 1) * parts[number].by_letter[letter];
    }
    printf("%.2f\n", sum);
    return 0;
}
