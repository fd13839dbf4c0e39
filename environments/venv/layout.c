#include "environments/venv/layout.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "environments/interpreter/base_python.h"
#include "environments/interpreter/python_version.h"
#include "environments/venv/parent.h"
#include "environments/venv/scripts.h"
#include "environments/workplace/directory_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRECTORY_MODE = 0755 };

/* Runs any version of pip, also a version that is installed later. */
static const char PIP[] = "import runpy\n"
                          "runpy.run_module('pip', run_name='__main__')\n";

/* %s: the path, quoted for a shell. */
static const char ACTIVATE[] =
    "# For a shell to read: `. bin/activate`. Then python and pip are those of this virtual\n"
    "# environment, until `deactivate`.\n"
    "deactivate () {\n"
    "    if [ -n \"${VENV_PATH_BEFORE:-}\" ]; then PATH=$VENV_PATH_BEFORE; export PATH; fi\n"
    "    if [ -n \"${VENV_HOME_BEFORE:-}\" ]; then PYTHONHOME=$VENV_HOME_BEFORE; export "
    "PYTHONHOME; "
    "fi\n"
    "    if [ -n \"${VENV_PROMPT_BEFORE:-}\" ]; then PS1=$VENV_PROMPT_BEFORE; fi\n"
    "    unset VENV_PATH_BEFORE VENV_HOME_BEFORE VENV_PROMPT_BEFORE VIRTUAL_ENV\n"
    "    hash -r 2>/dev/null || true\n"
    "    if [ \"${1:-}\" != again ]; then unset -f deactivate; fi\n"
    "}\n"
    "deactivate again\n"
    "VIRTUAL_ENV=%s\n"
    "VENV_PATH_BEFORE=$PATH\n"
    "VENV_HOME_BEFORE=${PYTHONHOME:-}\n"
    "PATH=$VIRTUAL_ENV/bin:$PATH\n"
    "export VIRTUAL_ENV PATH\n"
    "unset PYTHONHOME\n"
    "if [ -z \"${VIRTUAL_ENV_DISABLE_PROMPT:-}\" ] && [ -n \"${PS1:-}\" ]; then\n"
    "    VENV_PROMPT_BEFORE=$PS1\n"
    "    PS1=\"(${VIRTUAL_ENV##*/}) $PS1\"\n"
    "fi\n"
    "hash -r 2>/dev/null || true\n";

/* PATH in single quotes for a shell. Owned by the caller. */
static char *venv_layout_quote(const char *path)
{
    char *quoted = memory_new(4 * strlen(path) + 3, 1);
    char *end = stpcpy(quoted, "'");

    for (; *path; path++)
        if (*path == '\'')
            end = stpcpy(end, "'\\''");
        else
            *end++ = *path;
    stpcpy(end, "'");
    return quoted;
}

static int make_file(const struct venv_layout *layout, const char *name, const char *text,
                     struct error *err)
{
    AUTO_FREE char *path = memory_format("%s/%s", layout->written, name);

    return fd_write_new_file(path, 0666, text, strlen(text), err);
}

static int venv_layout_make_directory(const struct venv_layout *layout, const char *name,
                                      struct error *err)
{
    AUTO_FREE char *path = memory_format("%s/%s", layout->written, name);

    return fd_make_directories(path, DIRECTORY_MODE, err);
}

static int make_link(const struct venv_layout *layout, const char *name, const char *target,
                     struct error *err)
{
    AUTO_FREE char *path = memory_format("%s/%s", layout->written, name);

    if (symlink(target, path) == 0)
        return 0;
    return error_set_errno(err, errno, "cannot make the link %s", path);
}

static int make_directories(const struct venv_layout *layout, struct error *err)
{
    if (venv_layout_make_directory(layout, "bin", err) < 0 ||
        venv_layout_make_directory(layout, "include", err) < 0 ||
        venv_layout_make_directory(layout, layout->base->packages, err) < 0)
        return -1;
    if (sizeof(void *) < 8 || strncmp(layout->base->packages, "lib/", 4) != 0)
        return 0;
    return make_link(layout, "lib64", "lib", err);
}

static int make_interpreters(const struct venv_layout *layout, struct error *err)
{
    AUTO_FREE char *minor = python_version_minor(layout->base->version);
    AUTO_FREE char *named = memory_format("bin/python%s", minor);

    if (make_link(layout, "bin/python", layout->base->executable, err) < 0 ||
        make_link(layout, "bin/python3", "python", err) < 0)
        return -1;
    return make_link(layout, named, "python", err);
}

/* Makes pyvenv.cfg, the mark of a virtual environment: the interpreter looks for it beside or above
 * itself. */
static int make_configuration(const struct venv_layout *layout, struct error *err)
{
    const char *executable = layout->base->executable;
    const char *seen = layout->system_site_packages ? "true" : "false";
    AUTO_FREE char *real = realpath(executable, NULL);
    AUTO_FREE char *text =
        memory_format("home = %.*s\n"
                      "include-system-site-packages = %s\n"
                      "version = %s\n"
                      "executable = %s\n"
                      "command = %s -m venv %s%s\n",
                      (int)(strrchr(executable, '/') - executable), executable, seen,
                      layout->base->version, real ? real : executable, executable,
                      layout->system_site_packages ? "--system-site-packages " : "", layout->path);

    return make_file(layout, "pyvenv.cfg", text, err);
}

static int make_activation(const struct venv_layout *layout, struct error *err)
{
    AUTO_FREE char *quoted = venv_layout_quote(layout->path);
    AUTO_FREE char *text = memory_format(ACTIVATE, quoted);

    return make_file(layout, "bin/activate", text, err);
}

static int make_pip_program(const struct venv_layout *layout, const char *version,
                            struct error *err)
{
    AUTO_FREE char *path = memory_format("%s/bin/pip%s", layout->written, version);
    AUTO_FREE char *interpreter = memory_format("%s/bin/python", layout->path);

    return venv_script_write(path, interpreter, PIP, err);
}

static int make_pip(const struct venv_layout *layout, struct error *err)
{
    const struct base_python *base = layout->base;
    AUTO_FREE char *from = memory_format("%s/site-packages", base->folder);
    AUTO_FREE char *to = memory_format("%s/%s", layout->written, base->packages);
    AUTO_FREE char *minor = python_version_minor(base->version);

    if (!base->pip)
        return 0;
    if (directory_copy(from, to, err) < 0 || make_pip_program(layout, "", err) < 0 ||
        make_pip_program(layout, "3", err) < 0)
        return -1;
    return make_pip_program(layout, minor, err);
}

int venv_layout_write(const struct venv_layout *layout, struct error *err)
{
    if (make_directories(layout, err) < 0 || make_interpreters(layout, err) < 0 ||
        make_configuration(layout, err) < 0 || make_activation(layout, err) < 0)
        return -1;
    if (!layout->without_pip && make_pip(layout, err) < 0)
        return -1;
    if (!layout->parent)
        return 0;
    return venv_parent_show(layout->parent, layout->written, layout->base->packages, err);
}

/* These are run by the Python of the venv, which has more packages. */
int venv_layout_adopt_programs(const struct venv_layout *layout, struct venv_scripts *ret,
                               struct error *err)
{
    AUTO_FREE char *minor = python_version_minor(layout->base->version);
    AUTO_FREE char *source = memory_format("%s/bin", layout->parent);
    AUTO_FREE char *bin = memory_format("%s/bin", layout->written);
    AUTO_FREE char *interpreter = memory_format("%s/bin/python", layout->path);

    return venv_scripts_adopt(ret, source, bin, minor, interpreter, err);
}
