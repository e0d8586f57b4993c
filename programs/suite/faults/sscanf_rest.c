/* Surveys of land are read from texts in memory, by all threads; of each the area is found. */
#include <pthread.h>
#include <stdatomic.h>

#include "../suite.h"

enum { SURVEYS = 40, POINTS = 30000, WIDTH = 28 };

struct point {
    double x, y;
};

static char *texts[SURVEYS];
static double areas[SURVEYS];
static atomic_int next_survey;

static char *make_text(int survey)
{
    uint64_t state = 88172645463325252 + (uint64_t)survey * 7919;
    char *text = malloc((size_t)POINTS * WIDTH), *end = text;
    for (int i = 0; i < POINTS; i++) {
        double turn = 2 * M_PI * i / POINTS, away = 1000 + (double)(next_random(&state) % 1000) / 10;
        end += sprintf(end, "%.4f %.4f\n", away * cos(turn), away * sin(turn));
    }
    return text;
}

static NOINLINE int read_points(const char *text, struct point *points)
{
    int count = 0, length;
    while (count < POINTS) {
        /* FAULT: each call looks for the end of the whole text first */
        if (sscanf(text, "%lf %lf%n", &points[count].x, &points[count].y, &length) != 2)
            break;
        text += length;
        count++;
    }
    return count;
}

static NOINLINE double area(const struct point *points, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const struct point *here = &points[i], *next = &points[(i + 1) % count];
        sum += here->x * next->y - here->y * next->x;
    }
    return sum / 2;
}

static void *work(void *unused)
{
    struct point *points = malloc(sizeof *points * POINTS);
    for (int survey; (survey = atomic_fetch_add(&next_survey, 1)) < SURVEYS;)
        areas[survey] = area(points, read_points(texts[survey], points));
    free(points);
    return unused;
}

int main(int argc, char **argv)
{
    int count = threads_asked(argc, argv);
    pthread_t *threads = malloc(sizeof *threads * (size_t)count);
    double total = 0;
    for (int survey = 0; survey < SURVEYS; survey++)
        texts[survey] = make_text(survey);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (int survey = 0; survey < SURVEYS; survey++) {
        total += areas[survey];
        free(texts[survey]);
    }
    printf("%.3f\n", total);
    free(threads);
    return 0;
}
