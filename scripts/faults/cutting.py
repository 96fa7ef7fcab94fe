"""A proxy before a PostgreSQL server that cuts a connection at a chosen byte, or all of them, or is silent for a time."""
import contextlib
import socket
import struct
import threading

from life import free_port

# CommandComplete of a COMMIT: type, length, tag.
COMMITTED = b"C" + struct.pack("!i", 11) + b"COMMIT\0"
TO_SERVER, TO_CLIENT, IN_ANSWER = "to the server", "to the client", "in the answer to COMMIT"


class Proxy:
    """Listens on a port of loopback, and passes on to the server whose socket is at `path`."""

    def __init__(self, path):
        self.path = path
        self.lock = threading.Lock()
        self.pairs, self.plan, self.was_cut = set(), None, threading.Event()
        # What the last transaction had in each direction, by which a moment within the next one is chosen.
        self.sent, self.transaction_bytes = 0, 500
        self.is_blocked = False
        # Nothing passes while this is not set, and no connection ends: what a network does that loses all packets for a time.
        self.speaks = threading.Event()
        self.speaks.set()
        self.port = free_port()
        self.listen()

    def listen(self):
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def refuse(self):
        """Refuses connections until `listen` is called: libpq takes the next server only if this one cannot be reached."""
        # Closing it alone does not end a call of accept.
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                if self.is_blocked:
                    raise ConnectionError
                server.connect(self.path)
            except OSError:
                client.close()
                server.close()
                continue
            pair = (client, server)
            with self.lock:
                self.pairs.add(pair)
            for source, target, direction in ((client, server, TO_SERVER), (server, client, TO_CLIENT)):
                threading.Thread(target=self.pump, args=(pair, source, target, direction), daemon=True).start()

    def arm(self, direction, count, is_reset):
        """Cuts a connection after `count` more bytes; with IN_ANSWER, after `count` bytes of the next answer to a COMMIT."""
        self.was_cut.clear()
        with self.lock:
            self.plan = [direction, count, is_reset]

    def allowed(self, direction, piece):
        """How much of a piece may pass; None for all of it."""
        with self.lock:
            if direction == TO_SERVER:
                self.sent += len(piece)
            else:
                place = piece.find(COMMITTED)
                if place >= 0:
                    self.transaction_bytes, self.sent = max(self.sent, 100), 0
                    if self.plan and self.plan[0] == IN_ANSWER:
                        return place + min(self.plan[1], len(COMMITTED))
            if not self.plan or self.plan[0] != direction:
                return None
            if len(piece) < self.plan[1]:
                self.plan[1] -= len(piece)
                return None
            return self.plan[1]

    def pump(self, pair, source, target, direction):
        with contextlib.suppress(OSError):
            while True:
                piece = source.recv(1 << 16)
                self.speaks.wait()
                if not piece:
                    break
                count = self.allowed(direction, piece)
                if count is None:
                    target.sendall(piece)
                    continue
                with contextlib.suppress(OSError):
                    target.sendall(piece[:count])
                with self.lock:
                    is_reset, self.plan = self.plan and self.plan[2], None
                if is_reset:
                    # Closing then sends RST and drops what was not yet sent.
                    pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.cut(pair)
                self.was_cut.set()
                return
        self.cut(pair)

    def cut(self, pair):
        with self.lock:
            if pair not in self.pairs:
                return
            self.pairs.discard(pair)
        for one in pair:
            # The other thread is in recv of it; shutdown ends that, close alone does not.
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def cut_all(self):
        for pair in list(self.pairs):
            self.cut(pair)

    def close(self):
        self.speaks.set()
        self.refuse()
        self.cut_all()
