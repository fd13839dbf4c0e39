"""zipfile, zipimport and tarfile: archives are written, read, tested and imported from."""
import io
import sys
import tarfile
import zipfile

with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr(zipfile.ZipInfo("module_in_zip.py"), "VALUE = 42\n")
    archive.writestr(zipfile.ZipInfo("folder/b.txt"), "b" * 10000, zipfile.ZIP_LZMA)
with zipfile.ZipFile("a.zip") as archive:
    print(archive.testzip(), archive.namelist(), archive.read("folder/b.txt")[:3])
    print(archive.extract("folder/b.txt").endswith("folder/b.txt"))
sys.path.insert(0, "a.zip")
import module_in_zip  # noqa: E402

print(module_in_zip.VALUE, module_in_zip.__file__)
with tarfile.open("a.tar", "w") as archive:
    info = tarfile.TarInfo("inside")
    info.size = 3
    archive.addfile(info, io.BytesIO(b"abc"))
with tarfile.open("a.tar") as archive:
    print(archive.getnames(), archive.extractfile("inside").read())
