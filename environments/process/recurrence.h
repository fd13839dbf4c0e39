/* A recurrence: a user, such as a connection, that is likely to come again with the same command
 * and other code; and the things that are kept ready for it. */
#pragma once

#include "base/list.h"

/* Embedded in the structure of the user. The things kept for it are forgotten when it ends. */
struct recurrence {
    struct list kept; /* of struct recurrent */
};

/* Embedded in a thing that is kept. */
struct recurrent {
    struct list link; /* in `kept`, until it is forgotten */

    /* Called when the user has ended. */
    void (*forget)(struct recurrent *recurrent);
};

void recurrence_init(struct recurrence *recurrence);

/* Forgets all things that are kept. */
void recurrence_end(struct recurrence *recurrence);

/* RECURRENT, whose `forget` is set, is kept for RECURRENCE. */
void recurrence_keep(struct recurrence *recurrence, struct recurrent *recurrent);

/* RECURRENT, whose `forget` is set, is kept as long as OTHER. */
void recurrence_keep_with(struct recurrent *other, struct recurrent *recurrent);

/* RECURRENT is not kept any more. */
void recurrent_withdraw(struct recurrent *recurrent);
