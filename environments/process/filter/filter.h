/* Filters of system calls. Each is a table of rules (filter_rule.h) that is compiled when the
 * program is built: starting a tree costs no more than handing the result to the kernel.
 *
 *     x_rules.c --filter-compiler, when building--> filter_programs.c --> filter_install()
 */
#pragma once

enum filter {
    FILTER_KERNEL,          /* no keyrings and user namespaces of its own: what every tree gets */
    FILTER_OTHER_PROCESSES, /* limits, priority and affinity of the caller alone: where there is no
                               PID namespace, its supervisor and the server are in reach */
    FILTER_SANDBOX,         /* the listed calls, and no other; has FILTER_KERNEL in it */
    FILTER_SANDBOX_OFFLINE, /* the same without any socket of a network: where a tree cannot have a
                               network of its own */
    FILTER_ZYGOTE,          /* FILTER_SANDBOX, and namespaces of its own for each worker */
    FILTER_WORKER, /* added to it by a worker, and to FILTER_SANDBOX by a program, before it begins:
                      forbids calls that only their supervisors need */
    FILTER_SUPERVISOR,  /* added to FILTER_ZYGOTE by the supervisor of a worker: forbids calls that
                           only the making of its tree needs */
    FILTER_SHARED_ROOT, /* added to them where a tree cannot have a root of its own: forbids calls
                           that file rules let pass */
    FILTER_PROXY,       /* added to FILTER_SANDBOX by the proxy of a run, for itself */
};

/* Puts the calling process and its children under FILTER, for good. The process must have
 * no_new_privs. -1 with errno set. */
int filter_install(enum filter filter);
