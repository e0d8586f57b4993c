/* stdio, with many arguments of many types, ends of files, and streams that cannot be written. */
#include "cases.h"

#include <stdarg.h>
#include <sys/wait.h>
#include <wchar.h>

static int print(FILE *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vfprintf(to, format, arguments);
    va_end(arguments);
    return length;
}

/* Arguments in registers of both kinds and on the stack. */
static void variadic(void)
{
    char text[200], small[4];
    volatile size_t room_of_small = sizeof small;
    snprintf(text, sizeof text, "%d %s %.1f %c %ld %.2f %x %.1Lf %lld %.1f %d %.1f %.1f %.1f %.1f %.1f", 1,
             "two", 3.0, '4', 5L, 6.25, 7u, 8.5L, 9LL, 10.5, 11, 12.5, 13.5, 14.5, 15.5, 16.5);
    outcome("snprintf", "1 two 3.0 4 5 6.25 7 8.5 9 10.5 11 12.5 13.5 14.5 15.5 16.5", "%s", text);
    outcome("snprintf, short", "6 123", "%s",
            BOTH(number(snprintf(small, room_of_small, "%d", 123456)), small));
    FILE *file = tmpfile();
    outcome("fprintf", "22", "%d",
            fprintf(file, "%d %s %.1f %c %d %d %d %.1f\n", 1, "two", 3.5, '4', 5, 6, 7, 8.25));
    outcome("vfprintf", "8", "%d", print(file, "%d %.1f %s\n", 1, 2.5, "c"));
    rewind(file);
    int one, five, six, seven;
    char word[8], four;
    double three, eight;
    outcome(
        "fscanf", "8", "%d",
        fscanf(file, "%d %7s %lf %c %d %d %d %lf", &one, word, &three, &four, &five, &six, &seven, &eight));
    outcome("fscanf: values", "1 two 3.5 4 5 6 7 8.2", "%d %s %.1f %c %d %d %d %.1f", one, word, three, four,
            five, six, seven, eight);
    fclose(file);
}

static void in_files(void)
{
    char buffer[64], *line = NULL;
    size_t room = 0;
    FILE *file = tmpfile();
    outcome("fwrite", "6", "%zu", fwrite("abcdef", 1, 6, file));
    outcome("fputs", "right", "%s", fputs("\nsecond line\n", file) >= 0 ? "right" : "wrong");
    outcome("fputc", "X", "%c", fputc('X', file));
    outcome("fflush", "0", "%s", OUT(fflush(file)));
    outcome("ftell", "20", "%ld", ftell(file));
    outcome("fseek", "0", "%s", OUT(fseek(file, 2, SEEK_SET)));
    outcome("fread", "2 of 2", "%zu of 2", fread(buffer, 2, 2, file));
    outcome("fread: content", "cdef", "%.4s", buffer);
    outcome("fgetc", "10", "%d", fgetc(file));
    outcome("ungetc", "10", "%d", ungetc('\n', file));
    outcome("fgets, the rest of a line", "1", "%d",
            fgets(buffer, sizeof buffer, file) != NULL && strcmp(buffer, "\n") == 0);
    outcome("getline", "12", "%zd", getline(&line, &room, file));
    outcome("fread at the end", "1", "%zu", fread(buffer, 1, 10, file));
    outcome("feof and ferror", "1 0", "%s", BOTH(number(feof(file) != 0), number(ferror(file) != 0)));
    outcome("fgets at the end", "none", "%s", fgets(buffer, sizeof buffer, file) == NULL ? "none" : "some");
    outcome("getdelim at the end", "-1", "%zd", getdelim(&line, &room, 'x', file));
    free(line);
    outcome("fclose", "0", "%s", OUT(fclose(file)));
    errno = 0;
    outcome("fopen of nothing", "none ENOENT", "%s",
            BOTH(fopen("/nothing/at/all", "r") == NULL ? "none" : "some", ERR(errno)));
    errno = 0;
    outcome("fopen, no such mode", "none EINVAL", "%s",
            BOTH(fopen("/dev/null", "?") == NULL ? "none" : "some", ERR(errno)));
    file = fopen("/dev/null", "r");
    outcome("fwrite to a stream opened to read", "0, error 1", "%s",
            (fwrite("a", 1, 1, file) == 0 && errno == EBADF && ferror(file)) ? "0, error 1" : "wrong");
    clearerr(file);
    outcome("fgetc of /dev/null", "-1", "%d", fgetc(file));
    file = freopen("/dev/zero", "r", file);
    outcome("freopen", "4096", "%zu", ({
                static char zeros[4096];
                fread(zeros, 1, sizeof zeros, file);
            }));
    fclose(file);
}

static void on_devices_and_pipes(void)
{
    char block[8192];
    int ends[2];
    memset(block, 'b', sizeof block);
    FILE *file = fopen("/dev/full", "w");
    outcome("fputs to /dev/full", "right", "%s", fputs("text", file) >= 0 ? "right" : "wrong");
    outcome("fflush to /dev/full", "-1 ENOSPC", "%s", OUT(fflush(file)));
    outcome("fclose after it", "right", "%s", fclose(file) == 0 || errno == ENOSPC ? "right" : "wrong");
    file = fopen("/dev/full", "w");
    fputs("text", file);
    outcome("fclose of /dev/full", "-1 ENOSPC", "%s", OUT(fclose(file)));

    if (pipe2(ends, O_NONBLOCK) != 0)
        return;
    file = fdopen(ends[1], "w");
    size_t written = 0, more;
    while ((more = fwrite(block, 1, sizeof block, file)) == sizeof block)
        written += more;
    int error = errno;
    outcome("fwrite until a pipe is full", "65536 EAGAIN 1", "%s",
            THREE(number((long)written), ERR(error), number(ferror(file) != 0)));
    outcome("fflush of a full pipe", "-1 EAGAIN", "%s",
            (clearerr(file), fputc('x', file), OUT(fflush(file))));
    outcome("fclose of a full pipe", "-1 EAGAIN", "%s",
            (clearerr(file), fputc('y', file), OUT(fclose(file))));
    close(ends[0]);

    if (pipe(ends) != 0)
        return;
    file = fdopen(ends[0], "r");
    FILE *other = fdopen(ends[1], "w");
    setvbuf(other, NULL, _IOLBF, 0);
    outcome("fputs of a line to a pipe", "right", "%s", fputs("a line\n", other) >= 0 ? "right" : "wrong");
    outcome("fgets from a pipe", "a line", "%s", ({
                block[0] = 0;
                char *end = fgets(block, sizeof block, file) ? strchr(block, '\n') : NULL;
                if (end != NULL)
                    *end = 0;
                block;
            }));
    handle(SIGUSR1, count_signal, 0);
    outcome("fgetc, interrupted", "-1 EINTR", "%s", INTERRUPTED(SIGUSR1, OUT(fgetc(file))));
    clearerr(file);
    fclose(other);
    outcome("fgetc when the writer is gone", "-1, at the end 1", "%s",
            fgetc(file) == -1 && feof(file) ? "-1, at the end 1" : "wrong");
    fclose(file);
}

static FILE *common;

static void *print_lines(void *name)
{
    for (int i = 0; i < 500; i++)
        fprintf(common, "%s %d %s\n", (char *)name, i, (char *)name);
    return NULL;
}

/* Lines of several threads stay whole. */
static void shared(void)
{
    char line[64], first[16], second[16];
    int i, whole = 0;
    struct worker workers[3];
    static char names[3][8] = {"one", "two", "three"};
    common = tmpfile();
    for (int n = 0; n < 3; n++)
        start(&workers[n], print_lines, names[n]);
    for (int n = 0; n < 3; n++)
        finish(&workers[n]);
    rewind(common);
    while (fgets(line, sizeof line, common) != NULL)
        whole += sscanf(line, "%15s %d %15s", first, &i, second) == 3 && strcmp(first, second) == 0;
    outcome("fprintf by three threads: whole lines", "1500", "%d", whole);
    flockfile(common);
    outcome("ftrylockfile by the owner", "0", "%s", OUT(ftrylockfile(common)));
    funlockfile(common);
    outcome("ftrylockfile by another", "1", "%d", elsewhere((int (*)(void *))ftrylockfile, common) != 0);
    funlockfile(common);
    fclose(common);
}

static void in_memory(void)
{
    char *text = NULL, room[16] = "";
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    fprintf(file, "%d-%s", 42, "memory");
    outcome("open_memstream", "0 42-memory", "%s", ({
                const char *closed = OUT(fclose(file));
                BOTH(closed, text);
            }));
    free(text);
    file = fmemopen(room, sizeof room, "w");
    fputs("a text that is too long", file);
    outcome("fmemopen, too much", "-1", "%d", fflush(file));
    fclose(file);
}

static void commands(void)
{
    char line[32] = "";
    FILE *file = popen("echo from a command; exit 5", "r");
    if (fgets(line, sizeof line, file) != NULL)
        line[strcspn(line, "\n")] = 0;
    outcome("popen: read", "from a command", "%s", line);
    int status = pclose(file);
    outcome("pclose", "5", "%d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    file = popen("read word; test \"$word\" = sent", "w");
    fputs("sent\n", file);
    outcome("popen: write", "0", "%d", pclose(file));
    errno = 0;
    outcome("popen, no such mode", "none EINVAL", "%s",
            BOTH(popen("true", "?") == NULL ? "none" : "some", ERR(errno)));
    status = system("exit 3");
    outcome("system", "3", "%d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    outcome("system: is there a shell", "1", "%d", system(NULL) != 0);
}

void streams(void)
{
    variadic();
    in_files();
    on_devices_and_pipes();
    shared();
    in_memory();
    commands();
}
