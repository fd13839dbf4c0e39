/* Whether runs are started ahead of their code. */
#pragma once

enum start_policy {
    START_WARM,  /* the next run may be started before there is code for it, as a copy of a
                    Python */
    START_FRESH, /* the next run may be started before there is code for it, but not as a copy */
    START_COLD,  /* each run is started for its code */
};

/* The policy called NAME; START_WARM if NAME is NULL or unknown. */
enum start_policy start_policy_find(const char *name);
