/* The functions of Python's C API that the core uses, found in the process that has loaded it. They
 * have had the same form since CPython 3.8; the core does not know their structs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct python_object;

/* PyStatus, which is returned by value. */
struct python_status {
    int type; /* 0: all is well */
    const char *function;
    const char *message;
    int exit_code;
};

enum {
    PYTHON_FILE_INPUT = 257, /* Py_file_input */
    PYTHON_PRINT_RAW = 1,    /* Py_PRINT_RAW */
};

enum { PYTHON_CONFIG_BYTES = 16 * 1024 }; /* more than any version's PyConfig or PyPreConfig has */

#define PYTHON_FUNCTIONS(F)                                                                        \
    F(void, PyPreConfig_InitPythonConfig, (void *))                                                \
    F(struct python_status, Py_PreInitializeFromBytesArgs, (const void *, ptrdiff_t, char **))     \
    F(void, PyConfig_InitPythonConfig, (void *))                                                   \
    F(struct python_status, PyConfig_SetBytesArgv, (void *, ptrdiff_t, char *const *))             \
    F(struct python_status, Py_InitializeFromConfig, (const void *))                               \
    F(void, PyConfig_Clear, (void *))                                                              \
    F(int, Py_FinalizeEx, (void))                                                                  \
    F(void, PyOS_BeforeFork, (void))                                                               \
    F(void, PyOS_AfterFork_Parent, (void))                                                         \
    F(void, PyOS_AfterFork_Child, (void))                                                          \
    F(struct python_object *, PyRun_FileExFlags,                                                   \
      (FILE *, const char *, int, struct python_object *, struct python_object *, int, void *))    \
    F(int, Py_MakePendingCalls, (void))                                                            \
    F(struct python_object *, PySys_GetObject, (const char *))                                     \
    F(int, PySys_SetObject, (const char *, struct python_object *))                                \
    F(void, PySys_WriteStderr, (const char *, ...))                                                \
    F(int, PySys_Audit, (const char *, const char *, ...))                                         \
    F(struct python_object *, PyImport_GetModuleDict, (void))                                      \
    F(struct python_object *, PyImport_AddModule, (const char *))                                  \
    F(struct python_object *, PyImport_GetImporter, (struct python_object *))                      \
    F(struct python_object *, PyImport_ImportModule, (const char *))                               \
    F(struct python_object *, PyModule_GetDict, (struct python_object *))                          \
    F(struct python_object *, PyObject_GetAttrString, (struct python_object *, const char *))      \
    F(struct python_object *, PyObject_CallObject,                                                 \
      (struct python_object *, struct python_object *))                                            \
    F(struct python_object *, PyObject_CallMethod,                                                 \
      (struct python_object *, const char *, const char *, ...))                                   \
    F(struct python_object *, PyObject_CallFunction, (struct python_object *, const char *, ...))  \
    F(struct python_object *, PyRun_StringFlags,                                                   \
      (const char *, int, struct python_object *, struct python_object *, void *))                 \
    F(struct python_object *, PyDict_New, (void))                                                  \
    F(const char *, Py_GetVersion, (void))                                                         \
    F(int, PyObject_IsTrue, (struct python_object *))                                              \
    F(int, PyObject_Print, (struct python_object *, FILE *, int))                                  \
    F(struct python_object *, PyObject_Type, (struct python_object *))                             \
    F(int, PyType_IsSubtype, (struct python_object *, struct python_object *))                     \
    F(int, PyFile_WriteObject, (struct python_object *, struct python_object *, int))              \
    F(struct python_object *, PyWeakref_NewRef, (struct python_object *, struct python_object *))  \
    F(struct python_object *, PyDict_Copy, (struct python_object *))                               \
    F(struct python_object *, PyDict_Keys, (struct python_object *))                               \
    F(struct python_object *, PyDict_GetItem, (struct python_object *, struct python_object *))    \
    F(int, PyDict_SetItem,                                                                         \
      (struct python_object *, struct python_object *, struct python_object *))                    \
    F(struct python_object *, PyDict_GetItemString, (struct python_object *, const char *))        \
    F(struct python_object *, PySet_New, (struct python_object *))                                 \
    F(int, PyDict_SetItemString, (struct python_object *, const char *, struct python_object *))   \
    F(int, PyDict_DelItem, (struct python_object *, struct python_object *))                       \
    F(int, PyDict_DelItemString, (struct python_object *, const char *))                           \
    F(struct python_object *, PyEval_GetBuiltins, (void))                                          \
    F(int, PyDict_Update, (struct python_object *, struct python_object *))                        \
    F(int, PyDict_Next,                                                                            \
      (struct python_object *, ptrdiff_t *, struct python_object **, struct python_object **))     \
    F(ptrdiff_t, PyDict_Size, (struct python_object *))                                            \
    F(struct python_object *, PyMapping_GetItemString, (struct python_object *, const char *))     \
    F(void, PyDict_Clear, (struct python_object *))                                                \
    F(struct python_object *, PyList_New, (ptrdiff_t))                                             \
    F(int, PyList_Append, (struct python_object *, struct python_object *))                        \
    F(int, PyList_Insert, (struct python_object *, ptrdiff_t, struct python_object *))             \
    F(ptrdiff_t, PyList_Size, (struct python_object *))                                            \
    F(struct python_object *, PyList_GetItem, (struct python_object *, ptrdiff_t))                 \
    F(long, PyLong_AsLong, (struct python_object *))                                               \
    F(const char *, PyUnicode_AsUTF8, (struct python_object *))                                    \
    F(struct python_object *, PyUnicode_DecodeFSDefault, (const char *))                           \
    F(struct python_object *, PyErr_Occurred, (void))                                              \
    F(int, PyErr_ExceptionMatches, (struct python_object *))                                       \
    F(void, PyErr_Fetch,                                                                           \
      (struct python_object **, struct python_object **, struct python_object **))                 \
    F(void, PyErr_Restore,                                                                         \
      (struct python_object *, struct python_object *, struct python_object *))                    \
    F(void, PyErr_Clear, (void))                                                                   \
    F(void, PyErr_Print, (void))                                                                   \
    F(void, PyErr_WriteUnraisable, (struct python_object *))                                       \
    F(void, PyObject_GC_Track, (void *))                                                           \
    F(void, PyObject_GC_UnTrack, (void *))                                                         \
    F(void *, PyInterpreterState_Head, (void))                                                     \
    F(void *, PyInterpreterState_Next, (void *))                                                   \
    F(void *, PyInterpreterState_ThreadHead, (void *))                                             \
    F(void *, PyThreadState_Next, (void *))                                                        \
    F(void, Py_IncRef, (struct python_object *))                                                   \
    F(void, Py_DecRef, (struct python_object *))

#define PYTHON_DECLARE(result, name, arguments) result(*name) arguments;

struct python_api {
    PYTHON_FUNCTIONS(PYTHON_DECLARE)
    struct python_object *none;
    struct python_object *PyLong_Type;
    struct python_object *const *PyExc_BaseException;
    struct python_object *const *PyExc_KeyboardInterrupt;
    struct python_object *const *PyExc_SystemExit;
};

extern struct python_api python;

/* False in a process that has no Python, or too old a Python. */
bool python_api_find(void);

/* Imports module NAME. If it was not imported before, it leaves sys.modules again. New reference;
 * NULL with an exception of Python. */
struct python_object *python_import_unseen(const char *name);

/* Whether NAME of sys.flags is set. */
bool python_flag(const char *name);

/* 11 of Python 3.11. */
int python_minor(void);
