/* The words that follow the number of a status. */
#pragma once

const char *http_status_reason(unsigned status);
