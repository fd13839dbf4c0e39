#include "environments/process/core/script_run.h"

#include "environments/process/core/python_api.h"
#include "environments/process/core/script_end.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_NO_FILE = 2, STATUS_FAILED = 1 }; /* Python's */

/* Python 3.14 takes the names of a script away before it looks at its exception, and takes an
 * exception of a subclass for a KeyboardInterrupt. A script of 3.15 has no `__cached__`. */
enum { PYTHON_NAMES_FIRST = 14, PYTHON_WITHOUT_CACHED = 15 };

static struct {
    struct python_object *loader; /* the class of the `__loader__` that a script has */
    bool shows_exits; /* PYTHONINSPECT: SystemExit is reported as other exceptions are */
    int minor;        /* of the version */
} script_run_state;

void script_run_prepare(void)
{
    struct python_object *machinery = python.PyImport_ImportModule("_frozen_importlib_external");

    script_run_state.loader =
        machinery ? python.PyObject_GetAttrString(machinery, "SourceFileLoader") : NULL;
    script_run_state.shows_exits = python_flag("inspect");
    script_run_state.minor = python_minor();
    python.PyErr_Clear();
    python.Py_DecRef(machinery);
}

static FILE *script_run_open(const char *path)
{
    FILE *file = fopen(path, "rbe");

    if (file)
        return file;
    fprintf(stderr, "can't open file '%s': [Errno %d] %s\n", path, errno, strerror(errno));
    exit(STATUS_NO_FILE);
}

/* Adds to VARIABLES, the dict of __main__, the names that it has only during a script. */
static void script_run_name(struct python_object *variables, const char *path)
{
    struct python_object *file = python.PyUnicode_DecodeFSDefault(path);
    struct python_object *loader =
        python.PyObject_CallFunction(script_run_state.loader, "sO", "__main__", file);

    (void)python.PyDict_SetItemString(variables, "__file__", file);
    if (script_run_state.minor < PYTHON_WITHOUT_CACHED)
        (void)python.PyDict_SetItemString(variables, "__cached__", python.none);
    if (loader)
        (void)python.PyDict_SetItemString(variables, "__loader__", loader);
    python.PyErr_Clear();
    python.Py_DecRef(loader);
    python.Py_DecRef(file);
}

/* A script may have deleted them. Its exception stays. */
static void script_run_take_names(struct python_object *variables)
{
    struct python_object *exception[3];

    python.PyErr_Fetch(&exception[0], &exception[1], &exception[2]);
    (void)python.PyDict_DelItemString(variables, "__file__");
    python.PyErr_Clear();
    (void)python.PyDict_DelItemString(variables, "__cached__");
    python.PyErr_Clear();
    python.PyErr_Restore(exception[0], exception[1], exception[2]);
}

static void script_run_flush(const char *name)
{
    struct python_object *stream = python.PySys_GetObject(name);

    if (stream)
        python.Py_DecRef(python.PyObject_CallMethod(stream, "flush", NULL));
    python.PyErr_Clear();
}

/* As Python does after a script, before it reports an exception. */
static void script_run_flush_both(void)
{
    struct python_object *exception[3];

    python.PyErr_Fetch(&exception[0], &exception[1], &exception[2]);
    script_run_flush("stderr");
    script_run_flush("stdout");
    python.PyErr_Restore(exception[0], exception[1], exception[2]);
}

static bool script_run_is_a(struct python_object *object, struct python_object *type)
{
    struct python_object *own = python.PyObject_Type(object);
    bool ret = python.PyType_IsSubtype(own, type);

    python.Py_DecRef(own);
    return ret;
}

/* The `code` of the SystemExit VALUE, or VALUE itself if that has none. New reference. */
static struct python_object *script_run_find_code(struct python_object *value)
{
    struct python_object *code = script_run_is_a(value, *python.PyExc_BaseException)
                                     ? python.PyObject_GetAttrString(value, "code")
                                     : NULL;

    python.PyErr_Clear();
    if (!code) {
        python.Py_IncRef(value);
        return value;
    }
    return code;
}

static void script_run_tell(struct python_object *code)
{
    struct python_object *stream = python.PySys_GetObject("stderr");

    if (stream && stream != python.none) {
        (void)python.PyFile_WriteObject(code, stream, PYTHON_PRINT_RAW);
    } else {
        (void)python.PyObject_Print(code, stderr, PYTHON_PRINT_RAW);
        fflush(stderr);
    }
    python.PySys_WriteStderr("\n");
}

/* The status of a process that ends with CODE, of which the reader is told if it is no number. */
static int script_run_status(struct python_object *code)
{
    if (code == python.none)
        return 0;
    if (script_run_is_a(code, python.PyLong_Type))
        return (int)python.PyLong_AsLong(code);
    script_run_tell(code);
    return STATUS_FAILED;
}

/* Takes the SystemExit that is raised, and with it what its frames hold. */
static int script_run_take_exit(void)
{
    struct python_object *exception[3];
    struct python_object *code;
    int status;

    python.PyErr_Fetch(&exception[0], &exception[1], &exception[2]);
    fflush(stdout);
    code = script_run_find_code(exception[1] ? exception[1] : python.none);
    status = script_run_status(code);
    python.Py_DecRef(code);
    python.PyErr_Restore(exception[0], exception[1], exception[2]);
    python.PyErr_Clear();
    return status;
}

static bool script_run_has_exited(void)
{
    return !script_run_state.shows_exits && python.PyErr_ExceptionMatches(*python.PyExc_SystemExit);
}

static bool script_run_was_interrupted(void)
{
    struct python_object *interrupt = *python.PyExc_KeyboardInterrupt;

    return script_run_state.minor < PYTHON_NAMES_FIRST ? python.PyErr_Occurred() == interrupt
                                                       : python.PyErr_ExceptionMatches(interrupt);
}

/* The script has raised an exception. Before Python 3.14 its names stay after SystemExit. */
static _Noreturn void script_run_fail(struct python_object *variables)
{
    const bool is_interrupted = script_run_was_interrupted();

    if (script_run_state.minor >= PYTHON_NAMES_FIRST)
        script_run_take_names(variables);
    if (script_run_has_exited()) {
        int status = script_run_take_exit();

        python.Py_DecRef(variables);
        script_end(status);
    }
    python.PyErr_Print();
    script_run_take_names(variables);
    python.Py_DecRef(variables);
    if (is_interrupted)
        script_end_interrupted();
    script_end(STATUS_FAILED);
}

void script_run(const char *path)
{
    FILE *file = script_run_open(path);
    struct python_object *module = python.PyImport_AddModule("__main__");
    struct python_object *variables = python.PyModule_GetDict(module);
    struct python_object *result;

    python.Py_IncRef(module);
    python.Py_IncRef(variables);
    (void)python.PySys_Audit("cpython.run_file", "s", path);
    script_run_name(variables, path);
    result = python.PyRun_FileExFlags(file, path, PYTHON_FILE_INPUT, variables, variables, 1, NULL);
    script_run_flush_both();
    python.Py_DecRef(module);
    if (!result)
        script_run_fail(variables);
    python.Py_DecRef(result);
    script_run_take_names(variables);
    python.Py_DecRef(variables);
    script_end(0);
}
