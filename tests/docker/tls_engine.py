"""An engine behind TLS, as one of another machine is reached.

    with TlsEngine(engine.socket, folder) as remote:
        definition = {"host": remote.address, "tls": {"ca_file": str(remote.certificate)}}
"""

import asyncio
import ssl
import threading

from test_tls import make_certificate

BYTES = 1 << 16


async def carry(reader, writer):
    try:
        while data := await reader.read(BYTES):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


class TlsEngine:
    def __init__(self, socket, folder):
        self.socket = str(socket)
        self.certificate, key = make_certificate(folder)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate, key)
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    async def serve(self, reader, writer):
        try:
            there, back = await asyncio.open_unix_connection(self.socket)
        except OSError:
            writer.close()
            return
        await asyncio.gather(carry(reader, back), carry(there, writer))

    async def listen(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, ssl=self.context)
        return self.server.sockets[0].getsockname()[1]

    def __enter__(self):
        self.thread.start()
        port = asyncio.run_coroutine_threadsafe(self.listen(), self.loop).result()
        self.address = f"tcp://127.0.0.1:{port}"
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
