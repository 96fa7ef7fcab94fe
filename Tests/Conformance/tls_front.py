"""Ends TLS before a server on the loopback address, until the input ends.

tls_front.py DESCRIPTOR PORT CERTIFICATE KEY: accepts at the listening socket DESCRIPTOR, passes on to PORT.
"""
import asyncio
import os
import socket
import ssl
import sys


async def pump(source, target):
    try:
        while piece := await source.read(65536):
            target.write(piece)
            await target.drain()
    except OSError:
        pass
    target.close()


async def main(descriptor, port, certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    async def serve(reader, writer):
        try:
            from_server, to_server = await asyncio.open_connection("127.0.0.1", int(port))
        except OSError:
            return writer.close()
        await asyncio.gather(pump(reader, to_server), pump(from_server, writer))

    await asyncio.start_server(serve, sock=socket.socket(fileno=int(descriptor)), ssl=context)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)
    # Whoever still holds a connection is not waited for.
    os._exit(0)


asyncio.run(main(*sys.argv[1:]))
