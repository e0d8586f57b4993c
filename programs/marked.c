/* A library with marks: for a program that opens it while it runs, and closes it again. */
#include "proust.h"

/* In the library's own memory: a name may be gone with it. */
static char name[] = "in library";

void marked(void (*work)(void));

void marked(void (*work)(void))
{
    proust_begin(name, 4);
    work();
    proust_end(name, 4);
}
