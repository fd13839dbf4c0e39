"""Real pictures, made and read with the standard library."""

import base64
import struct
import zlib

RED_JPEG = base64.b64decode(  # 16x8 pixels, like the following
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAYEBQYFBAYGBQYHBwYIChAKCgkJChQODwwQFxQYGBcUFhYaHSUfGhsj"
    "HBYWICwgIyYnKSopGR8tMC0oMCUoKSj/2wBDAQcHBwoIChMKChMoGhYaKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo"
    "KCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCj/wAARCAAIABADAREAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAA"
    "AAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAk"
    "M2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKT"
    "lJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QA"
    "HwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdh"
    "cRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hp"
    "anN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk"
    "5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDzqvjj+kQoA//Z"
)
GREEN_WEBP = base64.b64decode("UklGRhwAAABXRUJQVlA4TA8AAAAvD8ABAAfQ/4j+ByKi/wEA")
# Rows of blue and white by turns.
STRIPED_GIF = base64.b64decode("R0lGODdhEAAIAIAAAAAA/////ywAAAAAEAAIAAACEISPCcHtH5Q8sLY5rcVS1wIAOw==")
INTERLACED_GIF = base64.b64decode("R0lGODdhEAAIAIAAAAAA/////ywAAAAAEAAIAEACDYSPqcvtHaKctNqLMy4AOw==")

RED, GREEN, BLUE, WHITE = (255, 0, 0, 255), (0, 255, 0, 255), (0, 0, 255, 255), (255, 255, 255, 255)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of(width, height, rows):
    """A PNG of 8-bit RGBA with what ROWS yields."""
    packer = zlib.compressobj(1)
    packed = b"".join(packer.compress(b"\0" + row) for row in rows) + packer.flush()
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
            + chunk(b"IDAT", packed) + chunk(b"IEND", b""))


def halves(width, height):
    """A PNG that is red above and blue below."""
    return png_of(width, height, (bytes(RED if y < height // 2 else BLUE) * width for y in range(height)))


def bomb(width, height):
    """A PNG whose header promises more than it has."""
    return png_of(width, height, [])


def paeth(left, above, corner):
    return min((left, above, corner), key=lambda value: abs(left + above - corner - value))


def unfilter(kind, row, before, pixel):
    for i in range(len(row)):
        left, above = row[i - pixel] if i >= pixel else 0, before[i]
        corner = before[i - pixel] if i >= pixel else 0
        row[i] = (row[i] + (0, left, above, (left + above) // 2, paeth(left, above, corner))[kind]) % 256
    return row


class Pixels:
    """The pixels of an 8-bit RGB or RGBA PNG: pixels[x, y] is (red, green, blue, alpha)."""

    def __init__(self, png):
        assert png[:8] == b"\x89PNG\r\n\x1a\n"
        self.width, self.height, depth, colours, *rest = struct.unpack(">IIBBBBB", png[16:29])
        assert depth == 8 and colours in (2, 6) and rest == [0, 0, 0]
        self.pixel = 4 if colours == 6 else 3
        self.rows = self.read_rows(zlib.decompress(b"".join(self.chunks(png, b"IDAT"))))

    @staticmethod
    def chunks(png, wanted):
        place = 8
        while place < len(png):
            length, kind = struct.unpack(">I4s", png[place:place + 8])
            data = png[place + 8:place + 8 + length]
            assert struct.pack(">I", zlib.crc32(kind + data)) == png[place + 8 + length:place + 12 + length]
            if kind == wanted:
                yield data
            place += 12 + length

    def read_rows(self, data):
        step = 1 + self.width * self.pixel
        assert len(data) == step * self.height
        rows, before = [], bytes(step - 1)
        for y in range(self.height):
            line = data[y * step:(y + 1) * step]
            before = unfilter(line[0], bytearray(line[1:]), before, self.pixel)
            rows.append(before)
        return rows

    def __getitem__(self, place):
        x, y = place
        pixel = tuple(self.rows[y][x * self.pixel:(x + 1) * self.pixel])
        return pixel if self.pixel == 4 else (*pixel, 255)
