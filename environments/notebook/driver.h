/* The program of ours that the Python of a session executes (driver.py). */
#pragma once

extern const char notebook_driver[];
