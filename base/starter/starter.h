/* The starter: Python code of ours that the interpreter of a script loads before the script.
 *
 *     PYTHONPATH=/proc/self/fd/100 -> site imports sitecustomize.py from there -> script.py
 *
 * It makes the script flush what it has printed whenever STARTER_SIGNAL comes, and saves the
 * figures of matplotlib that the script shows or leaves open. It takes away what brought it, so
 * that the script and its children see nothing of it.
 *
 * The interpreter gets it as a sealed file in memory: no path leads there, so it works wherever
 * there is a /proc, in any image, and nobody can change it, the user of the script included. The
 * runner and pyexecd-init have it built in. */
#pragma once

#include <signal.h>
#include <stdbool.h>

#define STARTER_SIGNAL  SIGURG /* a program that does not handle it does not notice it */
#define STARTER_SECONDS 1.     /* between two of them */

enum {
    STARTER_GATE = 101,  /* where a program waits for its code, which closes it */
    STARTER_TOOLS = 102, /* a socket by which a script calls tools (tools.py) */
};

/* A byte to the gate: the next one has a socket beside it, which is to be STARTER_TOOLS. */
enum { STARTER_TOOLS_FOLLOW = 't' };

/* A variable that it takes: figures are then left to the script. */
#define STARTER_WITHOUT_FIGURES "PYEXECD_FIGURES=off"

/* The archive in a file that cannot be changed and closes on exec. -1 where that cannot be had. */
int starter_open(void);

/* In the process that is about to execute a Python: gives FILE (borrowed) to it. Returns the
 * variables to execute it with: VARIABLES itself, if there is no starter, else a copy. */
char **starter_lend(int file, char **variables);

/* Gives it, in the same way, GATE (borrowed), one end of a stream socket: when all is loaded it
 * writes one byte there, and goes on to its script when it has read one. At end-of-file it ends. */
char **starter_lend_gate(int gate, char **variables);

/* Gives it, in the same way, the socket TOOLS (borrowed), and the module by which its script calls
 * tools. */
char **starter_lend_tools(int tools, char **variables);

/* Sends TOOLS (borrowed) to the Python that waits at the other end of GATE, before it is let go on.
 * False when that fails. */
bool starter_send_tools(int gate, int tools);

/* Makes it, in the same way, load the library at PATH, which waits in its place (the core of a
 * zygote). */
char **starter_lend_library(const char *path, char **variables);
