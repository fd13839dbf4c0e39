/* An environment in words, for models and people. */
#pragma once

struct environment;

/* The limits of a program in ENVIRONMENT. Owned by the caller. */
char *environment_text_limits(const struct environment *environment);

/* ENVIRONMENT with its limits: "science (venv): 30 seconds unless ...". Owned by the caller. */
char *environment_text(const struct environment *environment);
