/*
 * Takes the versions away from what a library defines: unversion FILE all leaves no table of versions at
 * all, unversion FILE own leaves those of what it needs, and gives what it defines itself none.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    int all = !strcmp(argv[2], "all");
    int file = open(argv[1], O_RDWR);
    struct stat status;
    if (file < 0 || fstat(file, &status)) {
        perror(argv[1]);
        return 1;
    }
    char *image = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (image == MAP_FAILED) {
        perror(argv[1]);
        return 1;
    }
    Elf64_Ehdr *header = (Elf64_Ehdr *)image;
    Elf64_Shdr *sections = (Elf64_Shdr *)(image + header->e_shoff);
    Elf64_Sym *symbols = NULL;
    Elf64_Half *versions = NULL;
    size_t count = 0;
    for (int i = 0; i < header->e_shnum; i++) {
        char *content = image + sections[i].sh_offset;
        if (sections[i].sh_type == SHT_DYNSYM) {
            symbols = (Elf64_Sym *)content;
            count = sections[i].sh_size / sizeof *symbols;
        } else if (sections[i].sh_type == SHT_GNU_versym) {
            versions = (Elf64_Half *)content;
        }
        /* Linkers look at sections. */
        if (all && (sections[i].sh_type == SHT_GNU_versym || sections[i].sh_type == SHT_GNU_verdef
                    || sections[i].sh_type == SHT_GNU_verneed))
            sections[i].sh_type = SHT_PROGBITS;
        if (sections[i].sh_type == SHT_DYNAMIC && all) {
            /* Tags that nobody knows. */
            for (Elf64_Dyn *entry = (Elf64_Dyn *)content; entry->d_tag != DT_NULL; entry++)
                if (entry->d_tag == DT_VERSYM || entry->d_tag == DT_VERDEF || entry->d_tag == DT_VERDEFNUM
                    || entry->d_tag == DT_VERNEED || entry->d_tag == DT_VERNEEDNUM)
                    entry->d_tag = 0x6ffffd00;
        }
    }
    if (!symbols || !versions)
        return 1;
    for (size_t i = 1; i < count && !all; i++)
        if (symbols[i].st_shndx != SHN_UNDEF && versions[i] > 1)
            versions[i] = 1;
    return munmap(image, status.st_size) || close(file);
}
