/* Windows and figures that nobody would see. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "server/tools/hints/hint_table.h"

#include <string.h>

/* The complaint of a library about a missing screen, and the remedy. */
static char *hint_of_message(const struct hint_facts *facts)
{
    static const struct {
        const char *words;
        const char *advice;
    } table[] = {
        {"is non-interactive, and thus cannot be shown",
         "There is no screen, so plt.show() shows nothing. Save the figure: "
         "plt.savefig(\"figure.png\")."},
        {"interactive framework, as 'headless' is currently running",
         "There is no screen here: leave matplotlib.use() out, and save figures: "
         "plt.savefig(\"figure.png\")."},
        {"Rebuild the library with Windows, GTK+ 2.x or Cocoa support",
         "There is no screen here: write pictures into files, with cv2.imwrite(\"image.png\", "
         "image)."},
        {"qt.qpa.xcb: could not connect to display",
         "There is no screen here, so windows cannot be opened. Write files or print instead."},
        {"could not locate runnable browser",
         "There is no browser and no screen here. Write a file instead, such as "
         "figure.write_html(\"figure.html\")."},
    };

    for (size_t i = 0; i < ARRAY_SIZE(table); i++)
        if (strstr(facts->errors, table[i].words))
            return memory_copy_string(table[i].advice);
    return NULL;
}

/* A figure or window that nobody saw, without an error. The script may have saved it as well. */
static char *hint_unseen(const struct hint_facts *facts)
{
    if (!facts->run->is_success || facts->run->setting->session ||
        json_array_size(facts->run->files) > 0)
        return NULL;
    if (hint_code_has(facts, "webbrowser.open"))
        return memory_copy_string("There is no browser and no screen here: nobody has seen what "
                                  "webbrowser.open() was to show. Write a file, or print.");
    if (!hint_code_has(facts, ".show(") || hint_code_has(facts, "matplotlib"))
        return NULL;
    if (hint_code_has(facts, "plotly"))
        return memory_copy_string("There is no screen here: nobody has seen the figure. Write it "
                                  "to a file: figure.write_html(\"figure.html\").");
    if (hint_code_has(facts, "PIL"))
        return memory_copy_string("There is no screen here: nobody has seen the image. Save it: "
                                  "image.save(\"image.png\").");
    return NULL;
}

char *hint_screen(const struct hint_facts *facts)
{
    char *said = hint_of_message(facts);

    if (said)
        return said;
    if (hint_is_about(facts, "_tkinter.TclError") && strstr(facts->failure.message, "display"))
        return memory_copy_string("There is no screen here, so windows cannot be opened. Write "
                                  "files or print instead.");
    return hint_unseen(facts);
}
