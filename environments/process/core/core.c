/* The core: a library that the Python of a zygote is made to load. It puts its own main in place of
 * Python's, which starts the interpreter in the same way and then waits for orders; each worker
 * runs the script as `python script.py` does.
 *
 * In a program that is no Python, such as a shell script that starts one, the core changes nothing.
 * A Python that the core does not know runs the script of the zygote, which is empty. */
#include "environments/process/core/company.h"
#include "environments/process/core/exit_handlers.h"
#include "environments/process/core/footprint.h"
#include "environments/process/core/large_pages.h"
#include "environments/process/core/mappings.h"
#include "environments/process/core/python_api.h"
#include "environments/process/core/script_end.h"
#include "environments/process/core/script_run.h"
#include "environments/process/core/stacks.h"
#include "environments/process/core/stand_in.h"
#include "environments/process/core/zygote.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

typedef int core_main(int argc, char **argv, char **variables);
typedef int core_libc_start(core_main *main, int argc, char **argv, void (*init)(void),
                            void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

core_libc_start __libc_start_main;

/* The footprint (footprint.h) is learnt from an empty script, then from a script with imports.
 * After each module that is imported ahead the lessons begin anew. */
enum core_lesson { CORE_SCRIPT, CORE_IMPORTS, CORE_NOTHING };

static struct {
    const char *script;
    struct python_object *starter; /* the starter's function that goes on to the script */
    struct python_object *loader;  /* the starter's function that imports a module ahead */
    struct python_object *actor;   /* the starter's function that acts like a script */
    bool has_modules;              /* imported ahead */
    enum core_lesson lesson;       /* the next */
} core;

/* The variable has loaded the core. Another Python that this one starts must not inherit it. */
static void core_leave_no_trace(void)
{
    unsetenv("LD_PRELOAD");
}

/* As Py_BytesMain does. False when Python did not start. */
static bool core_start_python(int argc, char **argv)
{
    static char config[PYTHON_CONFIG_BYTES] __attribute__((aligned(16)));
    static char preparation[PYTHON_CONFIG_BYTES] __attribute__((aligned(16)));

    python.PyPreConfig_InitPythonConfig(preparation);
    if (python.Py_PreInitializeFromBytesArgs(preparation, argc, argv).type != 0)
        return false;
    python.PyConfig_InitPythonConfig(config);
    if (python.PyConfig_SetBytesArgv(config, argc, argv).type != 0 ||
        python.Py_InitializeFromConfig(config).type != 0)
        return false;
    python.PyConfig_Clear(config);
    return true;
}

/* The script's own directory comes first, unless Python was told otherwise. */
static void core_search_directory(void)
{
    struct python_object *path = python.PySys_GetObject("path");
    struct python_object *directory;
    char place[PATH_MAX];

    if (!path || python_flag("isolated") || python_flag("safe_path") ||
        !realpath(core.script, place))
        return;
    *strrchr(place, '/') = '\0';
    directory = python.PyUnicode_DecodeFSDefault(*place ? place : "/");
    if (!directory || python.PyList_Insert(path, 0, directory) < 0)
        python.PyErr_Print();
    python.Py_DecRef(directory);
}

/* A script could be an archive, so Python looks for an importer of its file and remembers the
 * result. The file is empty until the code comes, so a copy would find the same. */
static void core_look_for_importer(void)
{
    struct python_object *script = python.PyUnicode_DecodeFSDefault(core.script);

    python.Py_DecRef(script ? python.PyImport_GetImporter(script) : NULL);
    python.Py_DecRef(script);
    python.PyErr_Clear();
}

/* Takes the function that the starter has left as NAME of `sys`. New reference, or NULL. */
static struct python_object *core_take(const char *name)
{
    struct python_object *function = python.PySys_GetObject(name);

    python.Py_IncRef(function);
    python.PySys_SetObject(name, NULL);
    return function;
}

static void core_call_starter(bool is_rehearsal, int tools)
{
    struct python_object *result =
        core.starter ? python.PyObject_CallFunction(core.starter, "ii", is_rehearsal, tools) : NULL;

    if (!result)
        python.PyErr_Print();
    python.Py_DecRef(result);
}

/* Does once, before the script comes, the work that all scripts begin with. */
static void core_rehearse(void)
{
    static const char *const code = "import sys\n"
                                    "def text(n): return ', '.join([str(i) for i in range(n)])\n"
                                    "print(text(9)[:0], end='')\nsys.stdout.flush()\n";
    struct python_object *variables = python.PyDict_New();
    struct python_object *result =
        python.PyRun_StringFlags(code, PYTHON_FILE_INPUT, variables, variables, NULL);

    python.PyErr_Clear();
    python.Py_DecRef(result);
    python.Py_DecRef(variables);
}

static void core_prepare(void)
{
    footprint_take();
    python.PyOS_AfterFork_Child();
    core_search_directory();
    core_call_starter(true, -1);
    stacks_answer();
}

static void core_begin(int tools)
{
    core_call_starter(false, tools);
    python.Py_DecRef(core.starter);
    script_run(core.script);
}

/* RESULT is the starter's list: the kept modules, the packages, why the import failed, and the
 * function that prepares kept modules for Python's own end. The first three can be None. */
static enum zygote_answer core_note_loaded(struct python_object *result, char *ret_why)
{
    struct python_object *kept = python.PyList_GetItem(result, 0);
    struct python_object *why = python.PyList_GetItem(result, 2);

    if (why != python.none)
        snprintf(ret_why, ZYGOTE_TEXT_BYTES, "%s", python.PyUnicode_AsUTF8(why));
    if (kept == python.none)
        return ZYGOTE_SPOILT;
    script_end_prepare(kept, python.PyList_GetItem(result, 1), python.PyList_GetItem(result, 3));
    return why == python.none ? ZYGOTE_LOADED : ZYGOTE_NOT_LOADED;
}

static void core_flush(const char *name)
{
    struct python_object *stream = python.PySys_GetObject(name);

    if (stream && stream != python.none)
        python.Py_DecRef(python.PyObject_CallMethod(stream, "flush", NULL));
    python.PyErr_Clear();
}

/* In the zygote, whose standard output and error nobody reads: whether there was any output,
 * including the text that its streams still held. */
static bool core_has_printed(void)
{
    int count = 0;

    core_flush("stdout");
    core_flush("stderr");
    fflush(NULL);
    return ioctl(ZYGOTE_PRINTS_FD, FIONREAD, &count) < 0 || count > 0;
}

/* Why this process must not be copied; or NULL. SHARED is how many mappings it has shared before.
 */
static const char *core_find_fault(size_t shared)
{
    if (core_has_printed())
        return "prints something";
    if (mappings_count_shared() != shared)
        return "leaves shared memory";
    return company_is_left(stand_in_pid()) ? "leaves a process" : NULL;
}

/* Nobody has tried how copies of a Python fare that has no lock of its interpreter. */
static bool core_is_free_threaded(void)
{
    struct python_object *flags = python.PySys_GetObject("abiflags");
    const char *text = flags ? python.PyUnicode_AsUTF8(flags) : NULL;

    python.PyErr_Clear();
    return text && strchr(text, 't');
}

static enum zygote_answer core_load(const char *name, char ret_why[ZYGOTE_TEXT_BYTES])
{
    const size_t shared = mappings_count_shared();
    enum zygote_answer answer = ZYGOTE_SPOILT;
    const char *fault;
    struct python_object *result;

    exit_handlers_spare(true);
    result = core.loader ? python.PyObject_CallFunction(core.loader, "s", name) : NULL;
    exit_handlers_spare(false);
    if (result)
        answer = core_note_loaded(result, ret_why);
    if (!result)
        snprintf(ret_why, ZYGOTE_TEXT_BYTES, "cannot be imported ahead");
    fault = answer == ZYGOTE_SPOILT ? NULL : core_find_fault(shared);
    if (fault) {
        answer = ZYGOTE_SPOILT;
        snprintf(ret_why, ZYGOTE_TEXT_BYTES, "%s", fault);
    }
    core.lesson = CORE_SCRIPT;
    core.has_modules |= answer == ZYGOTE_LOADED;
    python.PyErr_Clear();
    python.Py_DecRef(result);
    return answer;
}

/* In a stand-in whose zygote has ended. The output of the zygote must not count for the next
 * module. A process that the import has left must not stay for longer than the zygote. */
static bool core_succeed(void)
{
    char bytes[PIPE_BUF];
    int count = 0;

    while (ioctl(ZYGOTE_PRINTS_FD, FIONREAD, &count) == 0 && count > 0)
        if (read(ZYGOTE_PRINTS_FD, bytes, sizeof bytes) < 0)
            return false;
    return !company_is_left(0);
}

static void core_before_copy(void)
{
    python.PyOS_BeforeFork();
}

/* Acts as scripts are expected to, because their imports change memory as well. */
static void core_use_loaded(bool has_imports)
{
    python.Py_DecRef(core.actor ? python.PyObject_CallFunction(core.actor, "i", has_imports)
                                : NULL);
    python.PyErr_Clear();
}

/* In a short-lived copy of the zygote: its output does not count. */
static void core_forget_prints(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (null < 0)
        return;
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    close(null);
}

/* Runs the zygote's empty script, from its start to its end. This copy is less confined than a
 * worker, so it imports nothing from places that scripts can write in, not even at its end. */
static void core_show(bool has_imports)
{
    core_forget_prints();
    python.PyOS_AfterFork_Child();
    core_rehearse();
    core_use_loaded(has_imports);
    core_call_starter(true, -1);
    script_run(core.script);
}

static void core_show_script(void)
{
    core_show(false);
}

static void core_show_imports(void)
{
    core_show(true);
}

static void core_after_copy(void)
{
    python.PyOS_AfterFork_Parent();
}

static void core_watch(void (*show)(void))
{
    core_before_copy();
    footprint_learn(show);
    core_after_copy();
}

/* One lesson at a time: an order that comes meanwhile waits. */
static bool core_learn(void)
{
    if (core.lesson == CORE_SCRIPT) {
        large_pages_make((uintptr_t)python.Py_GetVersion);
        core_watch(core_show_script);
        core.lesson = core.has_modules ? CORE_IMPORTS : CORE_NOTHING;
    } else if (core.lesson == CORE_IMPORTS) {
        core_watch(core_show_imports);
        core.lesson = CORE_NOTHING;
    }
    return core.lesson == CORE_NOTHING;
}

static int core_zygote_main(int argc, char **argv, char **variables)
{
    static const struct zygote_hooks hooks = {
        .before = core_before_copy,
        .after = core_after_copy,
        .load = core_load,
        .succeed = core_succeed,
        .learn = core_learn,
        .prepare = core_prepare,
        .begin = core_begin,
    };

    const char *fault;

    (void)variables;
    core_leave_no_trace();
    core.script = argv[argc - 1];
    if (!core_start_python(argc, argv))
        return 1;
    core.starter = core_take("_pyexecd_go_on");
    core.loader = core_take("_pyexecd_load_ahead");
    core.actor = core_take("_pyexecd_use_ahead");
    script_end_give_up(core.loader);
    script_end_give_up(core.actor);
    stacks_find_writer();
    core_look_for_importer();
    core_rehearse();
    script_run_prepare();
    script_end_prepare(NULL, NULL, NULL);
    fault = core_is_free_threaded() ? "is free-threaded" : core_find_fault(0);
    if (fault)
        zygote_refuse(fault);
    zygote_serve(&hooks);
    return 1;
}

/* Stands in for the function of glibc that every program begins with. */
__attribute__((visibility("default"))) int __libc_start_main(core_main *main, int argc, char **argv,
                                                             void (*init)(void), void (*fini)(void),
                                                             void (*rtld_fini)(void),
                                                             void *stack_end)
{
    core_libc_start *theirs = NULL;
    void *function = dlsym(RTLD_NEXT, "__libc_start_main");

    memcpy(&theirs, &function, sizeof theirs);
    if (zygote_is_here() && python_api_find()) {
        footprint_begin();
        main = core_zygote_main;
    }
    return theirs(main, argc, argv, init, fini, rtld_fini, stack_end);
}
