/* The form of a tool's results: text for a model alone, or the structured form for a program too.
 */
#pragma once

enum result_form {
    RESULT_FORM_UNSAID, /* of a request: as the tool has it; of a tool: its only form */
    RESULT_FORM_TEXT,
    RESULT_FORM_STRUCTURED,
    RESULT_FORMS,
};

/* The form called NAME, "text" or "structured"; RESULT_FORM_UNSAID for any other. */
enum result_form result_form_find(const char *name);
