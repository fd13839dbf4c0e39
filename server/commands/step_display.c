#include "server/commands/step_display.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/printable.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DRAWING_SECONDS 0.2 /* before the first drawing, and between two */

#define CLEAR_TO_END_OF_LINE   "\033[K"
#define CLEAR_TO_END_OF_SCREEN "\033[J"
#define UP_TO_COLUMN_1         "\033[%zuF"

static const char BAR_DONE[] = "####################";
static const char BAR_LEFT[] = "--------------------";

enum {
    CELLS = sizeof BAR_DONE - 1,
    BAR_COLUMNS = CELLS + 10,
    SECONDS_COLUMNS = 9,
    NAME_COLUMNS = 20,  /* at most */
    LEAST_COLUMNS = 64, /* for a bar: a narrower terminal has room for the text alone */
    MOST_COLUMNS = 100, /* the eye finds the end of the line */
    FRAME_BYTES = 64 * 1024,
};

/* The terminal bounds a frame; the rest of a longer one is left out. */
static void frame_append(struct buffer *frame, const char *text, size_t length)
{
    struct error ignored = ERROR_INIT;

    (void)buffer_append(frame, text, length, &ignored);
}

static void frame_append_string(struct buffer *frame, const char *text)
{
    frame_append(frame, text, strlen(text));
}

/* TEXT in a field of COLUMNS, cut or filled with blanks. */
static void add_field(struct buffer *frame, const char *text, size_t columns)
{
    size_t used;

    frame_append(frame, text, printable_fit(text, columns, &used));
    for (; used < columns; used++)
        frame_append(frame, " ", 1);
}

/* "  [######--------------]  31 %" */
static void add_bar(struct buffer *frame, const struct terminal *terminal, double fraction)
{
    int cells = (int)(fraction * CELLS);
    char percent[16];

    frame_append_string(frame, "  [");
    frame_append_string(frame, terminal_green(terminal));
    frame_append(frame, BAR_DONE, (size_t)cells);
    frame_append_string(frame, terminal_plain(terminal));
    frame_append_string(frame, BAR_LEFT + cells);
    snprintf(percent, sizeof percent, "] %3d %%", (int)(fraction * 100));
    add_field(frame, percent, BAR_COLUMNS - CELLS - 3);
}

static void add_seconds(struct buffer *frame, double seconds)
{
    char text[32];

    snprintf(text, sizeof text, seconds < 1000 ? "  %5.1f s" : "  %5.0f s", seconds);
    frame_append_string(frame, text);
}

/* The last column stays free: some terminals wrap when it is written to. */
static void frame_append_line(struct buffer *frame, const struct step_display *display,
                              const struct step_line *line, size_t name_columns)
{
    const char *text = *line->step.text ? line->step.text : "preparing";
    size_t width = size_min(terminal_columns(&display->terminal) - 1, MOST_COLUMNS);
    bool has_bar = width >= LEAST_COLUMNS && line->step.fraction >= 0;
    size_t right = has_bar ? SECONDS_COLUMNS + BAR_COLUMNS : SECONDS_COLUMNS;
    size_t left = name_columns + 2;

    if (width <= left + right) { /* hardly any room */
        add_field(frame, line->name, width);
        return;
    }
    add_field(frame, line->name, left);
    add_field(frame, text, width - left - right);
    if (has_bar)
        add_bar(frame, &display->terminal, line->step.fraction);
    add_seconds(frame, clock_seconds() - line->started);
}

static size_t widest_name(const struct step_display *display)
{
    size_t widest = 0;

    LIST_FOR_EACH (&display->lines, link) {
        size_t length = strlen(CONTAINER_OF(link, struct step_line, link)->name);

        if (length > widest)
            widest = length;
    }
    return size_min(widest, NAME_COLUMNS);
}

/* As many lines as there is room for, and then back to the first. */
static void frame_append_lines(struct buffer *frame, const struct step_display *display)
{
    size_t room = terminal_rows(&display->terminal) - 1;
    size_t count = 0;
    char back[32] = "\r";

    LIST_FOR_EACH (&display->lines, link) {
        if (count == room)
            break;
        frame_append_string(frame, count++ ? CLEAR_TO_END_OF_LINE "\r\n" : "");
        frame_append_line(frame, display, CONTAINER_OF(link, struct step_line, link),
                          widest_name(display));
    }
    frame_append_string(frame, CLEAR_TO_END_OF_SCREEN);
    if (count > 1)
        snprintf(back, sizeof back, UP_TO_COLUMN_1, count - 1);
    frame_append_string(frame, back);
}

/* Written in one piece, so that nothing flickers. A failure loses only this frame, and so does a
 * terminal that was stopped. */
static void step_display_draw(struct step_display *display)
{
    struct error ignored = ERROR_INIT;
    struct buffer frame;

    if (display->is_held || !fd_has_room(display->terminal.fd))
        return;
    buffer_init(&frame, FRAME_BYTES);
    frame_append_lines(&frame, display);
    (void)fd_write_all(display->terminal.fd, buffer_bytes(&frame), buffer_length(&frame), &ignored);
    buffer_deinit(&frame);
    display->is_drawn = true;
}

static void step_display_on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    step_display_draw(CONTAINER_OF(timer, struct step_display, timer));
}

void step_display_hide(struct step_display *display)
{
    if (!display->is_drawn || !fd_has_room(display->terminal.fd))
        return;
    (void)!write(display->terminal.fd, CLEAR_TO_END_OF_SCREEN, strlen(CLEAR_TO_END_OF_SCREEN));
    display->is_drawn = false;
}

static void step_display_on_log(void *data)
{
    step_display_hide(data);
}

void step_display_init(struct step_display *display, struct ev_loop *loop)
{
    *display = (struct step_display){.loop = loop};
    terminal_init(&display->terminal, STDERR_FILENO);
    list_init(&display->lines);
    ev_timer_init(&display->timer, step_display_on_timer, DRAWING_SECONDS, DRAWING_SECONDS);
    log_precede(step_display_on_log, display);
}

void step_display_deinit(struct step_display *display)
{
    step_display_hide(display);
    ev_timer_stop(display->loop, &display->timer);
    log_precede(NULL, NULL);
}

void step_line_init(struct step_line *line, const char *name)
{
    *line = (struct step_line){.name = name, .step.fraction = -1};
    list_init(&line->link);
}

void step_display_add(struct step_display *display, struct step_line *line)
{
    line->started = clock_seconds();
    list_append(&display->lines, &line->link);
    if (display->terminal.is_movable && !ev_is_active(&display->timer))
        ev_timer_again(display->loop, &display->timer);
}

void step_display_remove(struct step_display *display, struct step_line *line)
{
    list_remove(&line->link);
    step_display_hide(display);
    if (list_is_empty(&display->lines))
        ev_timer_stop(display->loop, &display->timer);
}

void step_display_update(struct step_display *display, struct step_line *line,
                         const struct preparation_step *step)
{
    bool is_new = strcmp(line->step.text, step->text) != 0;

    line->step = *step;
    if (is_new && !display->terminal.is_movable)
        fprintf(stderr, "%s: %s\n", line->name, step->text);
}

void step_display_follow(struct step_display *display, struct step_line *line,
                         const struct preparation_step *step)
{
    if (!display->terminal.is_there)
        return;
    if (!step) {
        step_display_remove(display, line);
        return;
    }
    if (list_is_empty(&line->link))
        step_display_add(display, line);
    step_display_update(display, line, step);
}
