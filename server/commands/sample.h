/* examples/config.yaml as comments, compiled into the program. */
#pragma once

extern const char sample_text[];
