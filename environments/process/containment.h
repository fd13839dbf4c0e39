/* How strictly process trees are held. */
#pragma once

enum containment {
    CONTAINMENT_PID_NAMESPACE, /* the tree cannot outlive its init, and sees nobody else */
    CONTAINMENT_CGROUP,        /* the tree is killed by its cgroup */
    CONTAINMENT_LANDLOCK,      /* a subreaper kills what it finds; signals cannot leave the tree */
    CONTAINMENT_BEST_EFFORT,   /* a subreaper kills what it finds: survivors are possible */
};

/* "pid namespace", "cgroup", "landlock", "best effort". Static storage. */
const char *containment_name(enum containment containment);
