#include "environments/process/runner/root_table.h"

#include "base/memory.h"

#include <sys/mount.h>

#define PROGRAMS (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV)
#define SETTINGS (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)
#define DEVICES  (MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY) /* of the file, not of the device */

const char *const root_directories[] = {
    ROOT_PLACE "/dev", ROOT_PLACE "/dev/pts", ROOT_PLACE "/dev/shm",
    ROOT_PLACE "/etc", ROOT_PLACE "/home",    ROOT_PLACE "/proc",
    ROOT_PLACE "/run", ROOT_PLACE "/tmp",     ROOT_PLACE "/var",
};
const size_t root_directory_count = ARRAY_SIZE(root_directories);

const struct root_file_system root_own[] = {
    {"proc", ROOT_PLACE "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL},
    {"tmpfs", ROOT_PLACE "/tmp", MS_NOSUID | MS_NODEV, "mode=1777,size=4k,nr_inodes=65536"},
    {"tmpfs", ROOT_PLACE "/dev/shm", MS_NOSUID | MS_NODEV | MS_NOEXEC,
     "mode=1777,size=4k,nr_inodes=16384"},
    {"devpts", ROOT_PLACE "/dev/pts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"},
};
const size_t root_own_count = ARRAY_SIZE(root_own);

const struct root_link root_links[] = {
    {"pts/ptmx", ROOT_PLACE "/dev/ptmx"},          {"/proc/self/fd", ROOT_PLACE "/dev/fd"},
    {"/proc/self/fd/0", ROOT_PLACE "/dev/stdin"},  {"/proc/self/fd/1", ROOT_PLACE "/dev/stdout"},
    {"/proc/self/fd/2", ROOT_PLACE "/dev/stderr"}, {"/tmp", ROOT_PLACE "/var/tmp"},
};
const size_t root_link_count = ARRAY_SIZE(root_links);

/* Of /etc, the files that programs read to work in the language, the time zone and with the
 * certificates of the machine: no file with its users or its secrets. */
const struct root_entry root_entries[] = {
    {"/usr", PROGRAMS, false},
    {"/bin", PROGRAMS, false},
    {"/sbin", PROGRAMS, false},
    {"/lib", PROGRAMS, false},
    {"/lib32", PROGRAMS, false},
    {"/lib64", PROGRAMS, false},
    {"/libx32", PROGRAMS, false},
    {"/etc/alternatives", SETTINGS, false},
    {"/etc/ca-certificates", SETTINGS, false},
    {"/etc/debian_version", SETTINGS, false},
    {"/etc/default/locale", SETTINGS, false},
    {"/etc/fonts", SETTINGS, false},
    {"/etc/gai.conf", SETTINGS, false},
    {"/etc/host.conf", SETTINGS, false},
    {"/etc/inputrc", SETTINGS, false},
    {"/etc/ld.so.cache", SETTINGS, false},
    {"/etc/ld.so.conf", SETTINGS, false},
    {"/etc/ld.so.conf.d", SETTINGS, false},
    {"/etc/locale.alias", SETTINGS, false},
    {"/etc/localtime", SETTINGS, false},
    {"/etc/magic", SETTINGS, false},
    {"/etc/mailcap", SETTINGS, false},
    {"/etc/matplotlibrc", SETTINGS, false},
    {"/etc/mime.types", SETTINGS, false},
    {"/etc/nsswitch.conf", SETTINGS, false},
    {"/etc/os-release", SETTINGS, false},
    {"/etc/papersize", SETTINGS, false},
    {"/etc/pki/ca-trust/extracted", SETTINGS, false},
    {"/etc/pki/tls/cert.pem", SETTINGS, false},
    {"/etc/pki/tls/certs", SETTINGS, false},
    {"/etc/pki/tls/openssl.cnf", SETTINGS, false},
    {"/etc/protocols", SETTINGS, false},
    {"/etc/resolv.conf", SETTINGS, true},
    {"/etc/services", SETTINGS, false},
    {"/etc/ssl/cert.pem", SETTINGS, false},
    {"/etc/ssl/certs", SETTINGS, false},
    {"/etc/ssl/openssl.cnf", SETTINGS, false},
    {"/etc/terminfo", SETTINGS, false},
    {"/etc/timezone", SETTINGS, false},
    {"/var/cache/fontconfig", SETTINGS, false}, /* without it each run reads all fonts */
    {"/dev/null", DEVICES, false},
    {"/dev/zero", DEVICES, false},
    {"/dev/full", DEVICES, false},
    {"/dev/random", DEVICES, false},
    {"/dev/urandom", DEVICES, false},
};
const size_t root_entry_count = ARRAY_SIZE(root_entries);

/* Of Java, R, ImageMagick, Chromium, Maven, LibreOffice, Ghostscript, TeX and Open MPI, as Debian
 * has them. Files in which an operator keeps passwords are left out: settings.xml of Maven, and
 * Renviron.site of R. */
const char *const root_settings[] = {
    "/etc/java-8-openjdk",  "/etc/java-11-openjdk", "/etc/java-17-openjdk", "/etc/java-21-openjdk",
    "/etc/java-25-openjdk", "/etc/R/Makeconf",      "/etc/R/Renviron",      "/etc/R/ldpaths",
    "/etc/R/repositories",  "/etc/ImageMagick-6",   "/etc/ImageMagick-7",   "/etc/chromium.d",
    "/etc/maven/logging",   "/etc/maven/m2.conf",   "/etc/libreoffice",     "/etc/ghostscript",
    "/etc/texmf",           "/etc/openmpi",
};
const size_t root_setting_count = ARRAY_SIZE(root_settings);
