#include "environments/process/core/prints.h"

#include "environments/process/control.h"
#include "environments/process/core/python_api.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void prints_flush(const char *name)
{
    struct python_object *stream = python.PySys_GetObject(name);

    if (stream && stream != python.none)
        python.Py_DecRef(python.PyObject_CallMethod(stream, "flush", NULL));
    python.PyErr_Clear();
}

bool prints_were_made(void)
{
    int count = 0;

    prints_flush("stdout");
    prints_flush("stderr");
    fflush(NULL);
    return ioctl(ZYGOTE_PRINTS_FD, FIONREAD, &count) < 0 || count > 0;
}

void prints_forget(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (null < 0)
        return;
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    close(null);
}
