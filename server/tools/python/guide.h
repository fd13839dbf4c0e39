/* The texts about `run_python` for models, in one place: its description, the instructions at the
 * beginning of a session and the prompt `code_writer` say the same in the same words. Every
 * sentence is true for each transport and each client. */
#pragma once

struct buffer;
struct python_offer;

enum { GUIDE_BYTES = 1 << 30 }; /* more than a configuration can make of it */

#define GUIDE_PURPOSE                                                                              \
    "Runs a Python program as `python script.py` in a fresh process and returns what it printed, " \
    "its exit code and the files it made."

/* Appends how programs run and where packages come from: lines that begin with "- ". */
void guide_append_rules(struct buffer *text, const struct python_offer *offer);

/* Appends the limits of the default environment. */
void guide_append_limits(struct buffer *text, const struct python_offer *offer);

/* Appends a line for each environment of OFFER. */
void guide_append_environments(struct buffer *text, const struct python_offer *offer);

/* For a session, where a client may show the model nothing else until it asks for the tool: the
 * purpose of the tool and the environments. Owned by the caller. */
char *guide_instructions(const struct python_offer *offer);
