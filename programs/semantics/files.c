/* I/O on files: results, errors, offsets, modes. */
#include "cases.h"

#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>

static char folder[] = "/tmp/semantics-XXXXXX";

static int mode_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (int)(status.st_mode & 07777) : -1;
}

/* The third argument of open is there only with O_CREAT. */
static void opening(void)
{
    umask(022);
    int file = open("plain", O_WRONLY | O_CREAT | O_EXCL, 0640);
    outcome("open, created", "1, mode 640", "%d, mode %o", file >= 0, mode_of("plain"));
    outcome("close", "0", "%s", OUT(close(file)));
    outcome("close again", "-1 EBADF", "%s", OUT(close(file)));
    outcome("open, exclusive", "-1 EEXIST", "%s", OUT(open("plain", O_WRONLY | O_CREAT | O_EXCL, 0640)));
    outcome("open of nothing", "-1 ENOENT", "%s", OUT(open("nothing", O_RDONLY)));
    outcome("open of a folder to write", "-1 EISDIR", "%s", OUT(open(".", O_WRONLY)));
    outcome("open below a file", "-1 ENOTDIR", "%s", OUT(open("plain/below", O_RDONLY)));
    outcome("open, bad pointer", "-1 EFAULT", "%s", OUT(open(nowhere, O_RDONLY)));
    file = openat(AT_FDCWD, "at", O_RDWR | O_CREAT, 0604);
    outcome("openat, created", "1, mode 604", "%d, mode %o", file >= 0, mode_of("at"));
    close(file);
    outcome("openat of no folder", "-1 EBADF", "%s", OUT(openat(987, "at", O_RDONLY)));
    file = open64("large", O_RDWR | O_CREAT | O_TRUNC, 0755);
    outcome("open64, created", "1, mode 755", "%d, mode %o", file >= 0, mode_of("large"));
    close(file);
    file = openat64(AT_FDCWD, "large-at", O_RDWR | O_CREAT, 0700);
    outcome("openat64, created", "1, mode 700", "%d, mode %o", file >= 0, mode_of("large-at"));
    close(file);
    file = creat("made", 0600);
    outcome("creat", "1, mode 600", "%d, mode %o", file >= 0, mode_of("made"));
    close(file);
    file = creat64("made-64", 0444);
    outcome("creat64", "1, mode 444", "%d, mode %o", file >= 0, mode_of("made-64"));
    close(file);
    file = open("plain", O_RDONLY | O_CLOEXEC);
    outcome("open with close-on-exec", "1", "%d", fcntl(file, F_GETFD) == FD_CLOEXEC);
    close(file);
}

static void transfers(void)
{
    char buffer[64] = "";
    int file = open("plain", O_RDWR | O_TRUNC);
    struct iovec two[] = {{"abc", 3}, {"defgh", 5}};
    outcome("write", "5", "%s", OUT(write(file, "01234", 5)));
    outcome("write of nothing", "0", "%s", OUT(write(file, NULL, 0)));
    outcome("writev", "8", "%s", OUT(writev(file, two, 2)));
    outcome("pwrite", "2", "%s", OUT(pwrite(file, "XY", 2, 1)));
    outcome("pwrite64", "1", "%s", OUT(pwrite64(file, "Z", 1, 12)));
    outcome("pwritev", "8", "%s", OUT(pwritev(file, two, 2, 20)));
    outcome("pwritev2", "8", "%s", OUT(pwritev2(file, two, 2, 28, 0)));
    outcome("lseek, where", "13", "%s", OUT(lseek(file, 0, SEEK_CUR)));
    outcome("lseek to the end", "36", "%s", OUT(lseek(file, 0, SEEK_END)));
    outcome("read at the end", "0", "%s", OUT(read(file, buffer, 10)));
    lseek(file, 0, SEEK_SET);
    outcome("read", "13", "%s", OUT(read(file, buffer, 13)));
    outcome("read: content", "0XY34abcdefgZ", "%s", buffer);
    outcome("pread", "8", "%s", OUT(pread(file, buffer, 8, 20)));
    outcome("pread, short", "4", "%s", OUT(pread(file, buffer, 64, 32)));
    outcome("pread64 behind the end", "0", "%s", OUT(pread64(file, buffer, 8, 1000)));
    volatile off_t negative = -1;
    struct iovec into[] = {{buffer, 4}, {buffer + 8, 4}};
    outcome("readv", "8", "%s", OUT(readv(file, into, 2)));
    outcome("preadv", "8", "%s", OUT(preadv(file, into, 2, 20)));
    outcome("preadv: content", "abcd efgh", "%.4s %.4s", buffer, buffer + 8);
    outcome("preadv2", "8", "%s", OUT(preadv2(file, into, 2, 28, 0)));
    outcome("preadv2, no such flag", "-1 EOPNOTSUPP", "%s", OUT(preadv2(file, into, 2, 28, 1 << 30)));
    outcome("pread, negative", "-1 EINVAL", "%s", OUT(pread(file, buffer, 1, negative)));
    outcome("readv, negative count", "-1 EINVAL", "%s", OUT(readv(file, into, (int)negative)));
    outcome("read, bad pointer", "-1 EFAULT", "%s", (lseek(file, 0, SEEK_SET), OUT(read(file, nowhere, 4))));
    outcome("write, bad pointer", "-1 EFAULT", "%s", OUT(write(file, nowhere, 4)));
    outcome("fsync", "0", "%s", OUT(fsync(file)));
    outcome("fdatasync", "0", "%s", OUT(fdatasync(file)));
    outcome("ftruncate", "0", "%s", OUT(ftruncate(file, 10)));
    errno = 1234;
    (void)!pread(file, buffer, 1, 0);
    (void)!pwrite(file, buffer, 1, 0);
    fsync(file);
    outcome("transfers: errno stays", "1234", "%d", errno);
    close(file);

    outcome("read of no file", "-1 EBADF", "%s", OUT(read(987, buffer, 1)));
    outcome("write of no file", "-1 EBADF", "%s", OUT(write(987, buffer, 1)));
    outcome("fsync of no file", "-1 EBADF", "%s", OUT(fsync(987)));
    outcome("fdatasync of no file", "-1 EBADF", "%s", OUT(fdatasync(-1)));
    file = open("plain", O_RDONLY);
    outcome("write to a file opened to read", "-1 EBADF", "%s", OUT(write(file, buffer, 1)));
    close(file);
    file = open("plain", O_WRONLY | O_APPEND);
    outcome("read from a file opened to write", "-1 EBADF", "%s", OUT(read(file, buffer, 1)));
    outcome("append", "2 12", "%s", BOTH(OUT(write(file, "ab", 2)), OUT(lseek(file, 0, SEEK_CUR))));
    close(file);
    file = open(".", O_RDONLY | O_DIRECTORY);
    outcome("read of a folder", "-1 EISDIR", "%s", OUT(read(file, buffer, 1)));
    close(file);
    file = open("/dev/full", O_WRONLY);
    outcome("write to /dev/full", "-1 ENOSPC", "%s", OUT(write(file, buffer, 1)));
    close(file);
    file = open("/dev/null", O_RDWR);
    outcome("write to /dev/null", "64", "%s", OUT(write(file, buffer, 64)));
    outcome("read of /dev/null", "0", "%s", OUT(read(file, buffer, 64)));
    close(file);
}

static void from_file_to_file(void)
{
    int from = open("from", O_RDWR | O_CREAT | O_TRUNC, 0600),
        to = open("to", O_RDWR | O_CREAT | O_TRUNC, 0600);
    char block[4096];
    memset(block, 'b', sizeof block);
    for (int i = 0; i < 4; i++)
        if (write(from, block, sizeof block) != (ssize_t)sizeof block)
            return;
    off_t at = 4096;
    outcome("sendfile", "4096 8192", "%s", BOTH(OUT(sendfile(to, from, &at, 4096)), number(at)));
    outcome("sendfile64 at the end", "0", "%s", (at = 16384, OUT(sendfile64(to, from, &at, 4096))));
    outcome("sendfile, short", "384", "%s", (at = 16000, OUT(sendfile(to, from, &at, 4096))));
    outcome("sendfile from no file", "-1 EBADF", "%s", OUT(sendfile(to, 987, NULL, 1)));
    off64_t in = 0, out = 0;
    outcome("copy_file_range", "100 100 100", "%s",
            THREE(OUT(copy_file_range(from, &in, to, &out, 100, 0)), number(in), number(out)));
    outcome("copy_file_range, flags", "-1 EINVAL", "%s", OUT(copy_file_range(from, NULL, to, NULL, 1, 77)));
    outcome("copy_file_range to no file", "-1 EBADF", "%s",
            OUT(copy_file_range(from, NULL, 987, NULL, 1, 0)));
    close(from);
    close(to);
}

static void descriptors(void)
{
    int file = open("plain", O_RDONLY), second = dup(file);
    char byte;
    outcome("dup shares the offset", "1", "%d", read(file, &byte, 1) == 1 && lseek(second, 0, SEEK_CUR) == 1);
    outcome("dup2", "700", "%s", OUT(dup2(file, 700)));
    outcome("dup2 onto itself", "700", "%s", OUT(dup2(700, 700)));
    outcome("dup2 of no file", "-1 EBADF", "%s", OUT(dup2(987, 701)));
    outcome("dup3 onto itself", "-1 EINVAL", "%s", OUT(dup3(700, 700, 0)));
    outcome("dup3 with close-on-exec", "701 1", "%s",
            BOTH(OUT(dup3(file, 701, O_CLOEXEC)), number(fcntl(701, F_GETFD) == FD_CLOEXEC)));
    outcome("dup of no file", "-1 EBADF", "%s", OUT(dup(987)));
    outcome("fcntl F_DUPFD", "800", "%s", OUT(fcntl(file, F_DUPFD, 800)));
    close(700);
    close(701);
    close(800);
    close(second);
    close(file);
    /* Nobody keeps a file open in this program: the lowest free descriptor is the one just closed. */
    int again = open("plain", O_RDONLY);
    outcome("open takes the lowest descriptor", "1", "%d", again == file);
    close(again);
}

void files(void)
{
    int home = open(".", O_RDONLY | O_DIRECTORY);
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
        outcome("a folder for files", "made", "%s", "not made");
        return;
    }
    opening();
    transfers();
    from_file_to_file();
    descriptors();
    static const char *const made[] = {"plain", "at", "large", "large-at", "made", "made-64", "from", "to"};
    int removed = 0;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        removed += unlink(made[i]) == 0;
    outcome("files removed", "8", "%d", removed);
    if (fchdir(home) == 0)
        outcome("folder removed", "0", "%s", OUT(rmdir(folder)));
    close(home);
}
