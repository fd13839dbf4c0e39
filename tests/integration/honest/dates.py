"""datetime, calendar, time and email.utils: arithmetic, formats, leap years."""
import calendar
import datetime
import email.utils
import time

start = datetime.datetime(2024, 2, 28, 23, 30)
print(start + datetime.timedelta(hours=48, minutes=45), start.isocalendar(), start.strftime("%A %d %B %Y, %j"))
print(datetime.datetime.strptime("3 Mar 2021 04:05", "%d %b %Y %H:%M"), calendar.isleap(1900))
print(calendar.month(2024, 2), time.strftime("%c", time.gmtime(0)), time.mktime((2024, 1, 1, 0, 0, 0, 0, 0, 0)))
print(email.utils.formatdate(0), email.utils.parsedate_to_datetime("Thu, 01 Jan 1970 00:00:00 +0000"))
print(abs(time.time() - datetime.datetime.now().timestamp()) < 60)
