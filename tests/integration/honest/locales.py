"""locale: what of them there is, numbers, dates and order in one, encodings of files and terminals."""
import calendar
import locale
import subprocess
import sys

print(locale.setlocale(locale.LC_ALL, "C.UTF-8"), locale.getpreferredencoding(), sys.getfilesystemencoding())
print(sys.stdout.encoding, locale.format_string("%.2f", 1234.5, grouping=True), locale.localeconv()["decimal_point"])
print(sorted(["b", "A", "a", "ä"], key=locale.strxfrm), calendar.month_name[2])
print(subprocess.run(["locale", "-a"], stdout=subprocess.PIPE).stdout)
try:
    print(locale.setlocale(locale.LC_ALL, "xx_XX"))
except locale.Error as error:
    print(error)
