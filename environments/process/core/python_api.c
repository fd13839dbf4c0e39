#include "environments/process/core/python_api.h"

#include "base/memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct python_api python;

#define PYTHON_ENTRY(result, name, arguments) {#name, offsetof(struct python_api, name)},

static const struct {
    const char *name;
    size_t offset;
} python_functions[] = {PYTHON_FUNCTIONS(PYTHON_ENTRY)};

bool python_api_find(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(python_functions); i++) {
        void *function = dlsym(RTLD_DEFAULT, python_functions[i].name);

        if (!function)
            return false;
        memcpy((char *)&python + python_functions[i].offset, &function, sizeof function);
    }
    python.none = dlsym(RTLD_DEFAULT, "_Py_NoneStruct");
    python.PyLong_Type = dlsym(RTLD_DEFAULT, "PyLong_Type");
    python.PyExc_BaseException = dlsym(RTLD_DEFAULT, "PyExc_BaseException");
    python.PyExc_KeyboardInterrupt = dlsym(RTLD_DEFAULT, "PyExc_KeyboardInterrupt");
    python.PyExc_SystemExit = dlsym(RTLD_DEFAULT, "PyExc_SystemExit");
    return python.none && python.PyLong_Type && python.PyExc_BaseException &&
           python.PyExc_KeyboardInterrupt && python.PyExc_SystemExit;
}

struct python_object *python_import_unseen(const char *name)
{
    struct python_object *modules = python.PyImport_GetModuleDict();
    ptrdiff_t count = python.PyDict_Size(modules);
    struct python_object *module = python.PyImport_ImportModule(name);

    if (python.PyDict_Size(modules) > count)
        (void)python.PyDict_DelItemString(modules, name);
    return module;
}

bool python_flag(const char *name)
{
    struct python_object *flags = python.PySys_GetObject("flags");
    struct python_object *flag = flags ? python.PyObject_GetAttrString(flags, name) : NULL;
    bool is_set = flag && python.PyObject_IsTrue(flag) == 1;

    python.PyErr_Clear(); /* of a flag that this version does not have */
    python.Py_DecRef(flag);
    return is_set;
}

int python_minor(void)
{
    int minor = 0;

    (void)sscanf(python.Py_GetVersion(), "3.%d", &minor);
    return minor;
}
