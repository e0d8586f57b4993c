/* Pages of a wiki are edited in many sessions, while another thread saves one page after the other. */
#include <pthread.h>

#include "../suite.h"

enum { PAGES = 12, SESSIONS = 12, EDITS = 3600 };

struct page {
    pthread_mutex_t lock;
    long name, changes;
    double text;
    struct page *next;
};

static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;
static struct page *pages;
static int next_edit, is_over;

static void make_pages(void)
{
    for (long name = 0; name < PAGES; name++) {
        struct page *page = calloc(1, sizeof *page);
        pthread_mutex_init(&page->lock, NULL);
        page->name = name;
        page->next = pages;
        pages = page;
    }
}

static NOINLINE struct page *open_page(long name)
{
    pthread_mutex_lock(&index_lock);
    struct page *page = pages;
    while (page->name != name)
        page = page->next;
    pthread_mutex_lock(&page->lock); /* FAULT: the index stays locked until the page is free */
    pthread_mutex_unlock(&index_lock);
    return page;
}

static NOINLINE void edit(struct page *page)
{
    page->text = refine(page->text, 60000);
    page->changes++;
}

static void *session(void *unused)
{
    for (int number; (number = __atomic_fetch_add(&next_edit, 1, __ATOMIC_RELAXED)) < EDITS;) {
        uint64_t random = 88172645463325252 + (uint64_t)number * 0x9e3779b97f4a7c15;
        struct page *page = open_page((long)(next_random(&random) % PAGES));
        edit(page);
        pthread_mutex_unlock(&page->lock);
    }
    return unused;
}

static NOINLINE void write_to_storage(double *stored, double text)
{
    struct timespec answer = {0, 12000000};
    nanosleep(&answer, NULL);
    *stored = text;
}

static void *save_pages(void *stored)
{
    for (long name = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); name = (name + 1) % PAGES) {
        struct page *page = open_page(name);
        write_to_storage(stored, page->text);
        pthread_mutex_unlock(&page->lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t sessions[SESSIONS], saver;
    double stored = 0;
    long changes = 0;
    make_pages();
    pthread_create(&saver, NULL, save_pages, &stored);
    for (int i = 0; i < SESSIONS; i++)
        pthread_create(&sessions[i], NULL, session, NULL);
    for (int i = 0; i < SESSIONS; i++)
        pthread_join(sessions[i], NULL);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    pthread_join(saver, NULL);
    for (struct page *page = pages; page; page = page->next)
        changes += page->changes;
    printf("%ld changes\n", changes);
    return 0;
}
