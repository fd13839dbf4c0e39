/* What people and models are shown of something that is registered: names, titles, descriptions. */
#pragma once

#include "base/error.h"

/* A copy of TEXT, owned by the caller; NULL for NULL. */
char *label_copy(const char *text);

/* NAME must be 1 to 128 of A-Z a-z 0-9 _ . -; else ERR says that WHAT ("tool") must have one. */
int label_check_name(const char *what, const char *name, struct error *err);

/* TEXT is sent as it is, so it must be fit to be a JSON string. NULL is. */
int label_check_text(const char *text, struct error *err);
