#include "environments/process/core/script_end.h"

#include "base/memory.h"
#include "environments/process/core/python_api.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    STATUS_NOT_FLUSHED = 120, /* Python's */
    PYTHON_ONE_ATEXIT = 10,   /* since Python 3.10 all modules named atexit share one list */
    REFERENCES_MOST = 4,
};

static struct {
    struct python_object *modules;   /* a dict: all modules from before the script */
    struct python_object *builtins;  /* a dict: the builtins that every script has */
    struct python_object *gc;        /* the module gc */
    struct python_object *atexit;    /* atexit; NULL: the script's own has to be found */
    struct python_object *get_trace; /* sys.gettrace, which a script may replace */
    struct python_object *set_trace; /* sys.settrace */
    struct python_object *kept;      /* see script_end_prepare; or NULL */
    struct python_object *packages;  /* see script_end_prepare; or NULL */
    struct python_object *show_kept; /* see script_end_prepare; or NULL */
    ptrdiff_t names;                 /* how many `modules` had, or will have been given */
    long collections;                /* how often the collector had run */
    struct python_object *references[REFERENCES_MOST]; /* owned; see script_end_give_up */
    size_t reference_count;
    bool is_interrupted; /* by a KeyboardInterrupt that the script did not handle */
} end;

/* How many names the modules from before the script have, without the names that an exception
 * leaves in `sys`. */
static ptrdiff_t end_count_names(void)
{
    static const char *const left[] = {"last_type", "last_exc", "last_value", "last_traceback"};
    struct python_object *name;
    struct python_object *module;
    ptrdiff_t place = 0;
    ptrdiff_t count = 0;

    while (python.PyDict_Next(end.modules, &place, &name, &module)) {
        struct python_object *variables = python.PyModule_GetDict(module);

        count += variables ? python.PyDict_Size(variables) : 0;
    }
    for (size_t i = 0; i < ARRAY_SIZE(left); i++)
        count -= python.PySys_GetObject(left[i]) != NULL;
    python.PyErr_Clear(); /* of objects that are no modules */
    return end.packages ? count + python.PyDict_Size(end.packages) : count;
}

/* How often the collector has run. -1: unknown. */
static long end_count_collections(void)
{
    struct python_object *stats =
        end.gc ? python.PyObject_CallMethod(end.gc, "get_stats", NULL) : NULL;
    long count = 0;

    for (ptrdiff_t i = 0; stats && i < python.PyList_Size(stats); i++) {
        struct python_object *one = python.PyList_GetItem(stats, i);
        struct python_object *number = python.PyMapping_GetItemString(one, "collections");

        count += number ? python.PyLong_AsLong(number) : 0;
        python.Py_DecRef(number);
    }
    python.Py_DecRef(stats);
    python.PyErr_Clear();
    return stats ? count : -1;
}

/* Makes all present objects old, so that the collector need not look at them with the script's. */
static void end_make_old(void)
{
    python.Py_DecRef(python.PyObject_CallMethod(end.gc, "freeze", NULL));
    python.Py_DecRef(python.PyObject_CallMethod(end.gc, "unfreeze", NULL));
    python.PyErr_Clear();
}

/* Makes VARIABLES, the script's, young: objects of the script refer to it and become garbage with
 * it. */
static void end_make_young(struct python_object *variables)
{
    python.PyObject_GC_UnTrack(variables);
    python.PyObject_GC_Track(variables);
}

/* A text in KEPT is the first name of a module that every Python has, and its key is a second name
 * (preload.py). `end.modules` has both, or none: `multiprocessing` has a second name for __main__,
 * which is the script's. */
static void end_resolve_names(struct python_object *kept)
{
    struct python_object *name;
    struct python_object *module;
    ptrdiff_t place = 0;

    while (python.PyDict_Next(kept, &place, &name, &module)) {
        const bool is_text = python.PyUnicode_AsUTF8(module) != NULL;
        struct python_object *named;

        python.PyErr_Clear();
        if (!is_text)
            continue;
        named = python.PyDict_GetItem(end.modules, module);
        if (named)
            (void)python.PyDict_SetItem(end.modules, name, named);
        else
            (void)python.PyDict_DelItem(end.modules, name);
    }
}

/* Before any module is kept: a kept module would be lent to us, and lost to the script. */
static void end_import_own(void)
{
    end.gc = python_import_unseen("gc");
    if (python_minor() >= PYTHON_ONE_ATEXIT)
        end.atexit = python_import_unseen("atexit");
    end.get_trace = python.PySys_GetObject("gettrace");
    end.set_trace = python.PySys_GetObject("settrace");
    python.Py_IncRef(end.get_trace);
    python.Py_IncRef(end.set_trace);
}

void script_end_prepare(struct python_object *kept, struct python_object *packages,
                        struct python_object *show_kept)
{
    python.Py_DecRef(end.modules);
    python.Py_DecRef(end.builtins);
    end.modules = python.PyDict_Copy(python.PyImport_GetModuleDict());
    end.builtins = python.PyDict_Copy(python.PyEval_GetBuiltins());
    end.kept = kept;
    end.packages = packages;
    end.show_kept = show_kept;
    if (!end.gc)
        end_import_own();
    (void)python.PyDict_DelItemString(end.modules, "__main__");
    if (kept) {
        (void)python.PyDict_Update(end.modules, kept);
        end_resolve_names(kept);
    }
    end_make_old();
    end_make_young(python.PyModule_GetDict(python.PyImport_AddModule("__main__")));
    end.collections = end_count_collections();
    end.names = end_count_names();
    python.PyErr_Clear();
}

/* Calls FUNCTION, of which a script that traces its own code (sys.settrace) sees nothing. */
static void end_untraced(struct python_object *function)
{
    struct python_object *trace = python.PyObject_CallObject(end.get_trace, NULL);

    python.Py_DecRef(python.PyObject_CallFunction(end.set_trace, "O", python.none));
    python.Py_DecRef(python.PyObject_CallObject(function, NULL));
    python.PyErr_Clear();
    python.Py_DecRef(python.PyObject_CallFunction(end.set_trace, "O", trace ? trace : python.none));
    python.Py_DecRef(trace);
    python.PyErr_Clear();
}

/* After a KeyboardInterrupt Python ends by the signal: functions of atexit(3) are not called, but
 * the streams of C are flushed. */
static _Noreturn void end_process(int status)
{
    if (!end.is_interrupted)
        exit(status);
    fflush(NULL);
    signal(SIGINT, SIG_DFL);
    kill(getpid(), SIGINT);
    exit(128 + SIGINT);
}

void script_end_give_up(struct python_object *reference)
{
    assert(end.reference_count < REFERENCES_MOST);
    end.references[end.reference_count++] = reference;
}

/* Then only Python refers to the modules. */
static void end_drop_references(void)
{
    python.Py_DecRef(end.modules);
    for (size_t i = 0; i < end.reference_count; i++)
        python.Py_DecRef(end.references[i]);
}

/* Python's own way, for every unusual case. */
static _Noreturn void end_slowly(int status)
{
    if (end.show_kept)
        end_untraced(end.show_kept);
    end_drop_references();
    end_process(python.Py_FinalizeEx() < 0 ? STATUS_NOT_FLUSHED : status);
}

/* False if other threads exist, which go on until Python stops them. */
static bool end_is_alone(void)
{
    void *interpreter = python.PyInterpreterState_Head();

    return !python.PyInterpreterState_Next(interpreter) &&
           !python.PyThreadState_Next(python.PyInterpreterState_ThreadHead(interpreter));
}

/* The module threading. A library that was loaded ahead may have a thread although the script has
 * not imported the module. Borrowed, or NULL. */
static struct python_object *end_find_threading(void)
{
    struct python_object *name = python.PyUnicode_DecodeFSDefault("threading");
    struct python_object *module = python.PyDict_GetItem(python.PyImport_GetModuleDict(), name);

    if (!module && !end_is_alone())
        module = python.PyDict_GetItem(end.modules, name);
    python.Py_DecRef(name);
    return module;
}

/* Waits for threads that are no daemons. */
static void end_threads(void)
{
    struct python_object *module = end_find_threading();
    struct python_object *result;

    if (!module || module == python.none)
        return;
    result = python.PyObject_CallMethod(module, "_shutdown", NULL);
    if (!result)
        python.PyErr_WriteUnraisable(module);
    python.Py_DecRef(result);
}

static bool end_is_closed(struct python_object *file)
{
    struct python_object *closed = python.PyObject_GetAttrString(file, "closed");
    int ret = closed ? python.PyObject_IsTrue(closed) : -1;

    python.PyErr_Clear();
    python.Py_DecRef(closed);
    return ret > 0;
}

/* False when it could not. */
static bool end_flush(const char *name)
{
    struct python_object *file = python.PySys_GetObject(name);
    struct python_object *result;

    if (!file || file == python.none || end_is_closed(file))
        return true;
    result = python.PyObject_CallMethod(file, "flush", NULL);
    python.PyErr_Clear();
    python.Py_DecRef(result);
    return result != NULL;
}

static bool end_flush_both(void)
{
    bool output = end_flush("stdout");

    return end_flush("stderr") && output;
}

/* Clears the names of `sys` that Python clears, so that imports end and no exception is kept. */
static void end_clear_sys(void)
{
    static const char *const cleared[] = {
        "path",       "argv",
        "ps1",        "ps2",
        "last_type",  "last_exc",
        "last_value", "last_traceback",
        "path_hooks", "path_importer_cache",
        "meta_path",  "__interactivehook__",
    };
    static const char *const restored[][2] = {
        {"stdin", "__stdin__"}, {"stdout", "__stdout__"}, {"stderr", "__stderr__"}};

    for (size_t i = 0; i < ARRAY_SIZE(cleared); i++)
        if (python.PySys_GetObject(cleared[i]))
            (void)python.PySys_SetObject(cleared[i], python.none);
    for (size_t i = 0; i < ARRAY_SIZE(restored); i++) {
        struct python_object *first = python.PySys_GetObject(restored[i][1]);

        (void)python.PySys_SetObject(restored[i][0], first ? first : python.none);
    }
}

/* The names of the modules that the script has imported, a list. Earlier modules are only compared:
 * a reference to a module would change its memory, which we share. */
static struct python_object *end_list_modules(struct python_object *modules)
{
    struct python_object *names = python.PyList_New(0);
    struct python_object *name;
    struct python_object *module;
    ptrdiff_t place = 0;

    while (python.PyDict_Next(modules, &place, &name, &module))
        if (module != python.none && python.PyDict_GetItem(end.modules, name) != module)
            (void)python.PyList_Append(names, name);
    return names;
}

/* Takes the script's modules out of MODULES. Returns weak references to them, a list. */
static struct python_object *end_take_modules(struct python_object *modules)
{
    struct python_object *names = end_list_modules(modules);
    struct python_object *taken = python.PyList_New(0);

    for (ptrdiff_t i = 0; i < python.PyList_Size(names); i++) {
        struct python_object *name = python.PyList_GetItem(names, i);
        struct python_object *reference =
            python.PyWeakref_NewRef(python.PyDict_GetItem(modules, name), NULL);

        if (reference)
            (void)python.PyList_Append(taken, reference);
        python.PyErr_Clear(); /* some modules allow no weak reference */
        python.Py_DecRef(reference);
        (void)python.PyDict_SetItem(modules, name, python.none);
    }
    python.Py_DecRef(names);
    return taken;
}

/* Sets to None the names of VARIABLES with one underscore before them, or all others. */
static void end_clear_names(struct python_object *variables, bool has_underscore)
{
    struct python_object *names = python.PyDict_Keys(variables);

    for (ptrdiff_t i = 0; i < python.PyList_Size(names); i++) {
        struct python_object *name = python.PyList_GetItem(names, i);
        const char *text = python.PyUnicode_AsUTF8(name);
        bool is_private = text && text[0] == '_' && text[1] != '_';

        python.PyErr_Clear();
        if (text && is_private == has_underscore && strcmp(text, "__builtins__") != 0)
            (void)python.PyDict_SetItem(variables, name, python.none);
    }
    python.Py_DecRef(names);
}

/* If a module in TAKEN still exists, something refers to it, and its variables are cleared. False
 * when there was none. */
static bool end_clear_modules(struct python_object *taken)
{
    bool was_there = false;

    for (ptrdiff_t i = python.PyList_Size(taken) - 1; i >= 0; i--) {
        struct python_object *module =
            python.PyObject_CallObject(python.PyList_GetItem(taken, i), NULL);
        struct python_object *variables =
            module && module != python.none ? python.PyModule_GetDict(module) : NULL;

        if (variables) {
            end_clear_names(variables, true);
            end_clear_names(variables, false);
            was_there = true;
        }
        python.PyErr_Clear();
        python.Py_DecRef(module);
    }
    return was_there;
}

/* Collects GENERATION, 0 to 2, and the younger generations. Objects that survive are older then. */
static void end_collect(int generation)
{
    python.Py_DecRef(python.PyObject_CallMethod(end.gc, "collect", "i", generation));
    python.PyErr_Clear();
}

static bool end_has_own_builtins(struct python_object *builtins)
{
    struct python_object *name;
    struct python_object *value;
    ptrdiff_t place = 0;

    while (python.PyDict_Next(builtins, &place, &name, &value))
        if (python.PyDict_GetItem(end.builtins, name) != value)
            return true;
    return python.PyDict_Size(builtins) != python.PyDict_Size(end.builtins);
}

/* Undoes the script's changes of the builtins. */
static void end_restore_builtins(void)
{
    struct python_object *builtins = python.PyEval_GetBuiltins();
    struct python_object *all;

    if (!end_has_own_builtins(builtins))
        return;
    all = python.PyDict_Copy(builtins);
    python.PyDict_Clear(builtins);
    (void)python.PyDict_Update(builtins, end.builtins);
    python.Py_DecRef(all);
}

/* A weak reference to an object that lives as long as the variables of the script do. NULL if it
 * cannot be made. */
static struct python_object *end_watch_variables(struct python_object *modules)
{
    struct python_object *script = python.PyMapping_GetItemString(modules, "__main__");
    struct python_object *variables = script ? python.PyModule_GetDict(script) : NULL;
    struct python_object *mark = python.PySet_New(NULL);
    struct python_object *ret = python.PyWeakref_NewRef(mark, NULL);

    if (!variables || python.PyDict_SetItemString(variables, " end", mark) < 0) {
        python.Py_DecRef(ret);
        ret = NULL;
    }
    python.PyErr_Clear();
    python.Py_DecRef(mark);
    python.Py_DecRef(script);
    return ret;
}

static bool end_is_gone(struct python_object *reference)
{
    struct python_object *object = python.PyObject_CallObject(reference, NULL);

    python.Py_DecRef(object);
    return object == python.none;
}

/* Puts back the earlier modules, except kept modules that the script has not imported. */
static void end_put_back_old(struct python_object *modules)
{
    struct python_object *name;
    struct python_object *module;
    ptrdiff_t place = 0;

    (void)python.PyDict_Update(modules, end.modules);
    while (end.kept && python.PyDict_Next(end.kept, &place, &name, &module))
        (void)python.PyDict_DelItem(modules, name);
    python.PyErr_Clear(); /* of another name for __main__ */
}

/* Puts back all modules that still exist, so that Python's own way finds them. */
static void end_put_back(struct python_object *modules, struct python_object *taken)
{
    end_put_back_old(modules);
    for (ptrdiff_t i = 0; i < python.PyList_Size(taken); i++) {
        struct python_object *module =
            python.PyObject_CallObject(python.PyList_GetItem(taken, i), NULL);
        struct python_object *name = module && module != python.none
                                         ? python.PyObject_GetAttrString(module, "__name__")
                                         : NULL;

        if (name)
            (void)python.PyDict_SetItem(modules, name, module);
        python.PyErr_Clear();
        python.Py_DecRef(name);
        python.Py_DecRef(module);
    }
}

/* Returns false when a hook, a signal handler or the like still refers to objects of the script:
 * only Python's own way finds it. */
static bool end_take_apart(void)
{
    /* All objects of the script are young, unless the collector has run since. */
    const bool is_young = end_count_collections() == end.collections;
    struct python_object *modules = python.PyImport_GetModuleDict();
    struct python_object *watched = end_watch_variables(modules);
    struct python_object *taken;
    bool ret;

    if (!watched)
        return false;
    end_collect(is_young ? 0 : 2);
    end_clear_sys();
    taken = end_take_modules(modules);
    python.PyDict_Clear(modules);
    end_restore_builtins();
    (void)python.PyDict_DelItemString(python.PyEval_GetBuiltins(), "open"); /* as Python does */
    end_collect(is_young ? 1 : 2);
    ret = end_is_gone(watched);
    if (ret && end_clear_modules(taken))
        end_collect(2);
    else if (!ret)
        end_put_back(modules, taken);
    return ret;
}

/* The functions that are to be called at the end. */
static void end_call_functions(void)
{
    if (!end.atexit)
        end.atexit = python.PyImport_ImportModule("atexit");
    if (end.atexit)
        python.Py_DecRef(python.PyObject_CallMethod(end.atexit, "_run_exitfuncs", NULL));
    python.PyErr_Clear();
}

void script_end(int status)
{
    end_threads();
    (void)python.Py_MakePendingCalls();
    end_call_functions();
    if (!end_is_alone() || end_count_names() != end.names)
        end_slowly(status);
    if (!end_flush_both())
        end_slowly(status); /* it reports the error in the words of this version */
    if (!end_take_apart())
        end_slowly(status);
    (void)end_flush_both(); /* Python, too, flushes again when the modules are gone */
    end_process(status);
}

void script_end_interrupted(void)
{
    end.is_interrupted = true;
    script_end(128 + SIGINT);
}
