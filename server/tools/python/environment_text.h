/* An environment in words, for models and people. */
#pragma once

struct environment;

/* The limits of a program in ENVIRONMENT. Owned by the caller. */
char *environment_text_limits(const struct environment *environment);

/* ENVIRONMENT, its Python and its packages as far as they are known, and its restrictions and
 * limits where they differ from USUAL's: "science: venv, Python 3.12, with numpy, pandas". Owned by
 * the caller. */
char *environment_text(const struct environment *environment, const struct environment *usual);
