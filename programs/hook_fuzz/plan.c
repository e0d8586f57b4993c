/* Reading the list of hooks, and chance. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static void copy(char *to, size_t room, const char *from, size_t length)
{
    if (length >= room)
        length = room - 1;
    memcpy(to, from, length);
    to[length] = 0;
}

static void read_argument(struct argument *argument, const char *text, const char *end)
{
    const char *colon = strstr(text, ": "), *as = strstr(text, " as ");
    if (colon == NULL || as == NULL || as > end)
        exit(2);
    copy(argument->name, sizeof argument->name, text, (size_t)(colon - text));
    copy(argument->type, sizeof argument->type, colon + 2, (size_t)(as - colon - 2));
    const char *at = as + 4;
    size_t length = strcspn(at, "(;");
    copy(argument->grammar, sizeof argument->grammar, at, length);
    at += length;
    while (*at == '(' || *at == ' ' || *at == ',') {
        at++;
        length = strcspn(at, " ,);");
        if (length > 0 && argument->parameters < 2)
            copy(argument->of[argument->parameters++], sizeof argument->of[0], at, length);
        at += length;
    }
}

int read_plan(const char *path, struct hook *hooks, int most)
{
    FILE *file = fopen(path, "r");
    char line[4096];
    int count = 0;
    if (file == NULL)
        return -1;
    while (count < most && fgets(line, sizeof line, file)) {
        char *fields[6] = {0}, *at = line;
        line[strcspn(line, "\n")] = 0;
        for (int i = 0; i < 6 && at; i++)
            fields[i] = strsep(&at, "\t");
        if (fields[5] == NULL)
            continue;
        struct hook *hook = &hooks[count++];
        memset(hook, 0, sizeof *hook);
        copy(hook->name, sizeof hook->name, fields[0], strlen(fields[0]));
        copy(hook->family, sizeof hook->family, fields[1], strlen(fields[1]));
        copy(hook->result, sizeof hook->result, fields[4], strlen(fields[4]));
        for (char *text = fields[5]; *text && hook->count < MOST_ARGUMENTS;) {
            char *end = strchr(text, ';');
            if (end == NULL)
                break;
            read_argument(&hook->arguments[hook->count++], text, end);
            text = end + 1;
        }
    }
    fclose(file);
    return count;
}

uint64_t hash_of(const void *bytes, size_t length, uint64_t begin)
{
    const unsigned char *at = bytes;
    uint64_t hash = begin ^ 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

uint64_t own_thread;

/* Where a library or a stack lies depends on chance, and so does a thread's number, which a lock's word holds
   beside flags: such an address counts as any other one, such a number as none. */
static uint64_t without_chance(uint64_t word)
{
    const uint64_t NUMBER = 0x3fffffff;
    if (word >> 41 == 0x7eu >> 1)
        return 0x7e0000000000u;
    if ((word & NUMBER) == own_thread)
        word &= ~NUMBER;
    if ((word >> 32 & NUMBER) == own_thread)
        word &= ~(NUMBER << 32);
    return word;
}

/* In lanes that do not wait for each other. */
uint64_t hash_of_words(const void *words, size_t count, uint64_t begin)
{
    enum { LANES = 4 };
    const uint64_t *at = words;
    uint64_t lane[LANES], hash = begin ^ 0xcbf29ce484222325u;
    for (size_t i = 0; i < LANES; i++)
        lane[i] = hash + i;
    for (size_t i = 0; i < count; i++) {
        uint64_t *one = &lane[i % LANES];
        *one = (*one ^ without_chance(at[i])) * 0x9e3779b97f4a7c15u;
        *one ^= *one >> 29;
    }
    for (size_t i = 0; i < LANES; i++) {
        hash = (hash ^ lane[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

uint64_t draw(struct chance *chance)
{
    uint64_t next = chance->state += 0x9e3779b97f4a7c15u;
    next = (next ^ next >> 30) * 0xbf58476d1ce4e5b9u;
    next = (next ^ next >> 27) * 0x94d049bb133111ebu;
    return next ^ next >> 31;
}

uint64_t below(struct chance *chance, uint64_t limit)
{
    return draw(chance) % limit;
}
