/* The anchors that tie a virtual environment to its Python: bin/python and bin/python3, the file
 * that they lead to, the files beside them that say where a Python finds its library, and
 * pyvenv.cfg. A package can bring a file of such a name, and an installer
 * puts it there. */
#pragma once

#include "base/error.h"
#include "environments/interpreter/file_identity.h"

#include <sys/types.h>
#include <time.h>

enum { VENV_ANCHORS = 5 };

/* A file or a link; a field changes when it is replaced or written to. A link can lead over further
 * links, such as bin/python3.11, which are not listed. */
struct venv_anchor {
    ino_t inode; /* 0: the anchor is missing */
    struct timespec changed;
    struct file_identity target; /* of the file that it leads to in the end */
};

struct venv_anchors {
    char *venv;     /* owned; the virtual environment */
    char *packages; /* owned; the directory of packages in it */
    struct venv_anchor files[VENV_ANCHORS];
};

/* Notes the anchors of the virtual environment at VENV, whose packages are in the directory
 * PACKAGES, relative to it. RET is released with venv_anchors_deinit(). */
void venv_anchors_read(struct venv_anchors *ret, const char *venv, const char *packages);

/* Fails if an anchor has changed, and names the package that has brought the new file if it is
 * listed. */
int venv_anchors_check(const struct venv_anchors *anchors, struct error *err);

void venv_anchors_deinit(struct venv_anchors *anchors);
