#include "server/transport/identity/replay_window.h"

#include <string.h>

static uint64_t *replay_window_word(struct replay_window *window, uint64_t number)
{
    return &window->used[number % REPLAY_WINDOW_NUMBERS / 64];
}

static uint64_t replay_window_bit(uint64_t number)
{
    return UINT64_C(1) << number % 64;
}

/* Makes NUMBER the newest. The bits up to it stood for numbers that are too old now. */
static void replay_window_move(struct replay_window *window, uint64_t number)
{
    if (number - window->newest >= REPLAY_WINDOW_NUMBERS)
        memset(window->used, 0, sizeof window->used);
    else
        for (uint64_t i = window->newest + 1; i <= number; i++)
            *replay_window_word(window, i) &= ~replay_window_bit(i);
    window->newest = number;
}

bool replay_window_take(struct replay_window *window, int64_t epoch, uint64_t number)
{
    if (number == 0 || epoch < window->epoch)
        return false;
    if (epoch > window->epoch)
        *window = (struct replay_window){.epoch = epoch};
    if (number > window->newest)
        replay_window_move(window, number);
    else if (window->newest - number >= REPLAY_WINDOW_NUMBERS ||
             *replay_window_word(window, number) & replay_window_bit(number))
        return false;
    *replay_window_word(window, number) |= replay_window_bit(number);
    return true;
}
