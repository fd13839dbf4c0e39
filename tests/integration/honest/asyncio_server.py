"""asyncio: a server on loopback with several clients, and one on a unix socket."""
import asyncio


async def answer(reader, writer):
    while line := await reader.readline():
        writer.write(line.upper())
        await writer.drain()
    writer.close()


async def ask(reader, writer, text):
    writer.write(text + b"\n")
    line = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return line


async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    peers = [await asyncio.open_connection(host, port) for _ in range(10)]
    print(await asyncio.gather(*(ask(*peer, b"line %d" % number) for number, peer in enumerate(peers))))
    server.close()
    server = await asyncio.start_unix_server(answer, "server.socket")
    print(await ask(*await asyncio.open_unix_connection("server.socket"), b"unix"))
    server.close()


asyncio.run(main())
