"""zoneinfo, the local time of the machine and of a zone in TZ."""
import datetime
import os
import time
import zoneinfo

moment = datetime.datetime(2024, 7, 1, 12, tzinfo=datetime.timezone.utc)
for name in ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"):
    print(moment.astimezone(zoneinfo.ZoneInfo(name)))
print(len(zoneinfo.available_timezones()) > 400)
print(time.tzname, time.strftime("%H:%M %Z", time.localtime(0)), moment.astimezone().isoformat())
os.environ["TZ"] = "Asia/Tokyo"
time.tzset()
print(time.tzname, time.strftime("%H:%M %Z", time.localtime(0)))
berlin = zoneinfo.ZoneInfo("Europe/Berlin")
print(datetime.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=berlin).utcoffset())
