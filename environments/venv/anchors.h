/* What ties a virtual environment to its Python: bin/python, its other names, what these lead to,
 * and pyvenv.cfg. A package can bring a file of such a name, and an installer puts it there. */
#pragma once

#include "base/error.h"
#include "environments/interpreter/file_identity.h"

#include <sys/types.h>
#include <time.h>

enum { VENV_ANCHORS = 3 };

/* A file or a link; one of them changes when it is replaced or written to. A link can lead over
 * further ones, as to bin/python3.11, which are not listed. */
struct venv_anchor {
    ino_t inode; /* 0: there is none */
    struct timespec changed;
    struct file_identity target; /* of the file that it leads to in the end */
};

struct venv_anchors {
    struct venv_anchor files[VENV_ANCHORS];
};

/* Notes those of the virtual environment at VENV. */
void venv_anchors_read(struct venv_anchors *ret, const char *venv);

/* Fails if one of them is not what it was, and says which package has brought another, if PACKAGES
 * (the directory of packages in VENV; NULL: not known) tells. */
int venv_anchors_check(const struct venv_anchors *anchors, const char *venv, const char *packages,
                       struct error *err);
