/* stdio as it is called from outside the headers: variable arguments of every kind, what fortified code
 * calls, single characters, streams of the program's own functions. */
#include "cases.h"

#include <stdarg.h>
#include <sys/socket.h>

/* What compilers make of the same calls with _FORTIFY_SOURCE. */
int __fprintf_chk(FILE *, int, const char *, ...);
int __printf_chk(int, const char *, ...);
int __dprintf_chk(int, int, const char *, ...);
int __vfprintf_chk(FILE *, int, const char *, va_list);
int __vprintf_chk(int, const char *, va_list);
int __vdprintf_chk(int, int, const char *, va_list);
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);
size_t __fread_chk(void *, size_t, size_t, size_t, FILE *);
char *__fgets_chk(char *, size_t, int, FILE *);
int __open_2(const char *, int);
int __openat_2(int, const char *, int);
/* The scanning functions by their plain names, which headers exchange for others. */
int plain_fscanf(FILE *, const char *, ...) __asm__("fscanf");
int plain_scanf(const char *, ...) __asm__("scanf");
int plain_vfscanf(FILE *, const char *, va_list) __asm__("vfscanf");
int old_getc(FILE *) __asm__("_IO_getc");
int old_putc(int, FILE *) __asm__("_IO_putc");

/* More of each kind than there are registers, and long doubles, which lie aligned on the stack. */
#define MANY_FORMAT                                                                                          \
    "%d %s %.2f %ld %c %.3Lf %x %d %d %d %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %d %.2Lf %lld %.1Lf\n"
#define MANY                                                                                                 \
    1, "two", 3.25, 4L, '5', 6.125L, 7u, 8, 9, 10, 11.5, 12.5, 13.5, 14.5, 15.5, 16.5, 17.5, 18.5, 19.5, 20, \
        21.75L, 22LL, 23.5L

static FILE *file;
static char expected[400];

/* What the last print wrote, and whether it said so. */
static const char *printed(int length)
{
    char text[400] = "";
    fflush(file);
    ssize_t got = pread(fileno(file), text, sizeof text - 1, 0);
    if (ftruncate(fileno(file), 0) != 0)
        return "not emptied";
    rewind(file);
    lseek(fileno(file), 0, SEEK_SET);
    if (length != (int)strlen(expected) || got != length)
        return "wrong length";
    return strcmp(text, expected) == 0 ? "right" : "wrong text";
}

static int v_print(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vfprintf(file, format, list);
    va_end(list);
    return length;
}

static int v_print_out(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vprintf(format, list);
    va_end(list);
    return length;
}

static int v_print_descriptor(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vdprintf(fileno(file), format, list);
    va_end(list);
    return length;
}

static int v_print_checked(int which, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = which == 0   ? __vfprintf_chk(file, 1, format, list)
                 : which == 1 ? __vprintf_chk(1, format, list)
                              : __vdprintf_chk(fileno(file), 1, format, list);
    va_end(list);
    return length;
}

/* `call` prints to the standard output, which is `file` meanwhile. */
#define TO_FILE(call)                                                                                        \
    ({                                                                                                       \
        FILE *to_file_saved = stdout;                                                                        \
        stdout = file;                                                                                       \
        int to_file_length = (call);                                                                         \
        stdout = to_file_saved;                                                                              \
        to_file_length;                                                                                      \
    })

static void printing(void)
{
    snprintf(expected, sizeof expected, MANY_FORMAT, MANY);
    outcome("snprintf of many",
            "1 two 3.25 4 5 6.125 7 8 9 10 11.5 12.5 13.5 14.5 15.5 16.5 17.5 18.5 19.5 20 21.75 22 23.5",
            "%.*s", (int)strlen(expected) - 1, expected);
    file = tmpfile();
    outcome("fprintf of many", "right", "%s", printed(fprintf(file, MANY_FORMAT, MANY)));
    outcome("printf of many", "right", "%s", printed(TO_FILE(printf(MANY_FORMAT, MANY))));
    outcome("dprintf of many", "right", "%s", printed(dprintf(fileno(file), MANY_FORMAT, MANY)));
    outcome("vfprintf of many", "right", "%s", printed(v_print(MANY_FORMAT, MANY)));
    outcome("vprintf of many", "right", "%s", printed(TO_FILE(v_print_out(MANY_FORMAT, MANY))));
    outcome("vdprintf of many", "right", "%s", printed(v_print_descriptor(MANY_FORMAT, MANY)));
    outcome("__fprintf_chk of many", "right", "%s", printed(__fprintf_chk(file, 1, MANY_FORMAT, MANY)));
    outcome("__printf_chk of many", "right", "%s", printed(TO_FILE(__printf_chk(1, MANY_FORMAT, MANY))));
    outcome("__dprintf_chk of many", "right", "%s",
            printed(__dprintf_chk(fileno(file), 1, MANY_FORMAT, MANY)));
    outcome("__vfprintf_chk of many", "right", "%s", printed(v_print_checked(0, MANY_FORMAT, MANY)));
    outcome("__vprintf_chk of many", "right", "%s", printed(TO_FILE(v_print_checked(1, MANY_FORMAT, MANY))));
    outcome("__vdprintf_chk of many", "right", "%s", printed(v_print_checked(2, MANY_FORMAT, MANY)));
    strcpy(expected, "7\n");
    outcome("fprintf of one", "right", "%s", printed(fprintf(file, "%d\n", 7)));
    outcome("printf without arguments, puts, putchar", "right", "%s",
            (strcpy(expected, "a\nline\nx"),
             printed(TO_FILE(printf("%s", "a\n") + (puts("line") >= 0 ? 5 : 0) + (putchar('x') == 'x')))));
    int so_far = 0;
    strcpy(expected, "123");
    outcome("fprintf, %n", "right 2", "%s", BOTH(printed(fprintf(file, "12%n3", &so_far)), number(so_far)));
    outcome("dprintf to no file", "-1 EBADF", "%s", OUT(dprintf(987, "text")));
    errno = ENOENT;
    strcpy(expected, "No such file or directory");
    outcome("fprintf, %m", "right", "%s", printed(fprintf(file, "%m")));
    fclose(file);
    file = fopen("/dev/null", "r");
    outcome("fprintf to a stream opened to read", "-1 EBADF", "%s", OUT(fprintf(file, "text")));
    fclose(file);
}

static int v_scan(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int items = plain_vfscanf(file, format, list);
    va_end(list);
    return items;
}

static void scanning(void)
{
    static const char text[] = "1 two 3.25 4 5 6.125 7 8 9 10 rest";
    char got[200], word[8], character;
    int n[6];
    double d;
    long l;
    long double ld;
#define POINTERS &n[0], word, &d, &l, &character, &ld, &n[1], &n[2], &n[3], &n[4]
#define SCAN_FORMAT "%d %7s %lf %ld %c %Lf %d %d %d %d"
#define SCANNED(name, call)                                                                                  \
    do {                                                                                                     \
        memset(n, 0, sizeof n);                                                                              \
        rewind(file);                                                                                        \
        int scanned_items = (call);                                                                          \
        snprintf(got, sizeof got, "%d: %d %s %.2f %ld %c %.3Lf %d %d %d %d, at %ld", scanned_items, n[0],    \
                 word, d, l, character, ld, n[1], n[2], n[3], n[4], ftell(file));                            \
        outcome(name, "10: 1 two 3.25 4 5 6.125 7 8 9 10, at 29", "%s", got);                                \
    } while (0)
    file = tmpfile();
    fputs(text, file);
    FILE *saved = stdin;
    SCANNED("fscanf of many", fscanf(file, SCAN_FORMAT, POINTERS));
    SCANNED("fscanf of many, the plain one", plain_fscanf(file, SCAN_FORMAT, POINTERS));
    SCANNED("vfscanf of many, the plain one", v_scan(SCAN_FORMAT, POINTERS));
    stdin = file;
    SCANNED("scanf of many", scanf(SCAN_FORMAT, POINTERS));
    SCANNED("scanf of many, the plain one", plain_scanf(SCAN_FORMAT, POINTERS));
    stdin = saved;
    outcome("fscanf that matches nothing", "0", "%d", fscanf(file, "%d", n));
    outcome("fscanf to the end", "1 -1", "%s",
            (event(number(fscanf(file, "%7s", word))), event(number(fscanf(file, "%d", n))), events()));
    fclose(file);
}

static void fortified(void)
{
    char block[64] = "";
    int ends[2], pair[2];
    if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return;
    (void)!write(ends[1], "abcdef", 6);
    (void)!write(pair[0], "0123456789", 10);
    outcome("__read_chk", "6", "%s", OUT(__read_chk(ends[0], block, 10, sizeof block)));
    outcome("__read_chk of no file", "-1 EBADF", "%s", OUT(__read_chk(987, block, 10, sizeof block)));
    outcome("__pread_chk of a pipe", "-1 ESPIPE", "%s",
            OUT(__pread_chk(ends[0], block, 10, 0, sizeof block)));
    outcome("__recv_chk", "4", "%s", OUT(__recv_chk(pair[1], block, 4, sizeof block, 0)));
    outcome("__recvfrom_chk", "6", "%s",
            OUT(__recvfrom_chk(pair[1], block, 40, sizeof block, 0, NULL, NULL)));
    file = tmpfile();
    fputs("a line\nand more", file);
    rewind(file);
    outcome("__fgets_chk", "a line", "%.6s", __fgets_chk(block, sizeof block, 20, file));
    outcome("__fread_chk", "2", "%zu", __fread_chk(block, sizeof block, 3, 3, file));
    outcome("__fread_chk at the end", "0", "%zu", __fread_chk(block, sizeof block, 1, 3, file));
    fclose(file);
    int null = __open_2("/dev/null", O_RDONLY);
    outcome("__open_2", "1", "%d", null >= 0);
    close(null);
    outcome("__openat_2 of nothing", "-1 ENOENT", "%s",
            OUT(__openat_2(AT_FDCWD, "nothing/at/all", O_RDONLY)));
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(pair[i]);
    }
}

static void characters(void)
{
    enum { TIMES = 20000 };
    char line[32];
    unsigned long sum = 0, put = 0;
    int character, taken = 0;
    file = tmpfile();
    for (int i = 0; i < TIMES; i++) {
        int c = i * 7 % 256;
        put += (unsigned)c;
        if ((i % 4 == 0   ? fputc(c, file)
             : i % 4 == 1 ? putc(c, file)
             : i % 4 == 2 ? (putc_unlocked)(c, file)
                          : old_putc(c, file)) != c)
            break;
    }
    outcome("characters put", "20000", "%ld", ftell(file));
    rewind(file);
    while ((character = taken % 4 == 0   ? fgetc(file)
                        : taken % 4 == 1 ? getc(file)
                        : taken % 4 == 2 ? (getc_unlocked)(file)
                                         : old_getc(file)) != EOF) {
        sum += (unsigned)character;
        taken++;
    }
    outcome("characters taken", "20000, the same", "%d, %s", taken, sum == put ? "the same" : "others");
    outcome("fgetc at the end, once more", "-1 1 0", "%s",
            THREE(number(fgetc(file)), number(feof(file) != 0), number(ferror(file) != 0)));
    rewind(file);
    outcome("ungetc before the first", "88 88 0", "%s",
            THREE(number(ungetc('X', file)), number(fgetc(file)), number(fgetc(file))));
    fclose(file);

    int ends[2];
    if (pipe2(ends, O_NONBLOCK) != 0)
        return;
    file = fdopen(ends[1], "w");
    setvbuf(file, NULL, _IOLBF, 0);
    fputc('a', file);
    fputc('b', file);
    outcome("line buffered: nothing yet", "-1 EAGAIN", "%s", OUT(read(ends[0], line, sizeof line)));
    fputc('\n', file);
    outcome("line buffered: at the end of the line", "3", "%s", OUT(read(ends[0], line, sizeof line)));
    setvbuf(file, NULL, _IONBF, 0);
    fputc('c', file);
    outcome("not buffered", "1", "%s", OUT(read(ends[0], line, sizeof line)));
    FILE *reader = fdopen(ends[0], "r");
    outcome("fgetc of an empty pipe", "-1 EAGAIN", "%s", OUT(fgetc(reader)));
    fclose(reader);
    handle(SIGPIPE, SIG_IGN, 0);
    outcome("fputc when nobody reads", "-1 EPIPE", "%s", OUT(fputc('d', file)));
    handle(SIGPIPE, SIG_DFL, 0);
    fclose(file);
}

/* Lines with zeros in them, and lines as long as the room. */
static void lines(void)
{
    static const char text[] = "a\0b\nlong line without room\n\0\0\nlast\0one";
    char line[64], *whole = NULL;
    size_t room = 0;
    file = tmpfile();
    fwrite(text, 1, sizeof text - 1, file);
    rewind(file);
    outcome("fgets: a zero within", "1 4", "%s",
            BOTH(number(fgets(line, sizeof line, file) == line), number(ftell(file))));
    outcome("fgets: no room", "long 8", "%s", BOTH(fgets(line, 5, file), number(ftell(file))));
    outcome("fgets: room for nothing", " 8", "%s%s", BOTH(fgets(line, 1, file), number(ftell(file))), "");
    outcome("getline: the rest", "19", "%zd", getline(&whole, &room, file));
    outcome("getline: zeros only", "3", "%zd", getline(&whole, &room, file));
    outcome("getdelim to a zero", "5", "%zd", getdelim(&whole, &room, 0, file));
    outcome("getdelim to the end", "3", "%zd", getdelim(&whole, &room, 0, file));
    outcome("getdelim of no place", "-1 EINVAL", "%s", OUT(getdelim(NULL, &room, 0, file)));
    free(whole);
    fclose(file);
}

/* Streams of the program's own functions, which do I/O themselves. */
static int below;
static int refuse;

static ssize_t cookie_read(void *cookie, char *to, size_t size)
{
    (void)cookie;
    if (refuse) {
        errno = EINVAL;
        return -1;
    }
    return read(below, to, size < 16 ? size : 16);
}

static ssize_t cookie_write(void *cookie, const char *from, size_t size)
{
    (void)cookie;
    if (refuse) {
        errno = ENOLINK;
        return 0;
    }
    return write(below, from, size);
}

static int cookie_close(void *cookie)
{
    (void)cookie;
    return close(below);
}

static void own_functions(void)
{
    char line[64];
    int ends[2];
    cookie_io_functions_t functions = {cookie_read, cookie_write, NULL, cookie_close};
    if (pipe2(ends, O_NONBLOCK) != 0)
        return;
    below = ends[1];
    file = fopencookie(NULL, "w", functions);
    outcome("fputs and fprintf to own functions", "right 6", "%s",
            BOTH(fputs("a line\n", file) >= 0 ? "right" : "wrong",
                 number(fprintf(file, "%s %d", "more", 2 - 1))));
    outcome("fflush to own functions", "0", "%s", OUT(fflush(file)));
    refuse = 1;
    fputc('x', file);
    outcome("fflush that they refuse", "-1", "%d", fflush(file));
    refuse = 0;
    clearerr(file);
    outcome("fclose with own functions", "right", "%s", (fclose(file), "right"));
    below = ends[0];
    file = fopencookie(NULL, "r", functions);
    outcome("fgets from own functions", "a line", "%.6s", fgets(line, sizeof line, file));
    outcome("fgetc from own functions", "m", "%c", fgetc(file));
    outcome("fread to the end", "5", "%zu", fread(line, 1, 5, file));
    refuse = 1;
    errno = 0;
    while (fgetc(file) == 'x')
        ;
    outcome("fgetc that they refuse", "EINVAL 1", "%s", BOTH(ERR(errno), number(ferror(file) != 0)));
    refuse = 0;
    outcome("fileno of own functions", "-1 EBADF", "%s", OUT(fileno(file)));
    outcome("fclose", "0", "%s", OUT(fclose(file)));
    outcome("the descriptor below is closed", "-1 EBADF", "%s", OUT(read(below, line, 1)));
}

/* A descriptor that leads to something else each time. */
static void changing(void)
{
    char byte;
    int ends[2], place = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_RDONLY);
    if (pipe2(ends, O_NONBLOCK) != 0)
        return;
    outcome("read of /dev/zero", "1", "%s", OUT(read(place, &byte, 1)));
    dup2(null, place);
    outcome("read of /dev/null in its place", "0", "%s", OUT(read(place, &byte, 1)));
    dup3(ends[0], place, O_CLOEXEC);
    outcome("read of a pipe in its place", "-1 EAGAIN", "%s", OUT(read(place, &byte, 1)));
    close(place);
    outcome("read of nothing in its place", "-1 EBADF", "%s", OUT(read(place, &byte, 1)));
    close(null);
    close(ends[0]);
    close(ends[1]);
}

void formats(void)
{
    printing();
    scanning();
    fortified();
    characters();
    lines();
    own_functions();
    changing();
}
