"""A client for PostgreSQL's wire protocol, version 3, in its simple query form, without a password.

`psql` starts a process for each question, which costs more than the question when both processors are busy, and it does not say
whether a COMMIT came with a warning.
"""
import socket
import struct

SECONDS = 30
INTEGERS = {20, 21, 23, 26}
BOOLEAN, BYTES = 16, 17


class Lost(Exception):
    """The connection ended, or there was none."""


class Refused(Exception):
    """An error that the server reports: its SQLSTATE and message."""

    def __init__(self, fields):
        super().__init__("%s (%s)" % (fields.get("M"), fields.get("C")))
        self.code = fields.get("C")


def fields_of(body):
    parts = body.rstrip(b"\0").split(b"\0")
    return {part[:1].decode(): part[1:].decode(errors="replace") for part in parts if part}


def value(oid, text):
    if text is None:
        return None
    if oid in INTEGERS:
        return int(text)
    if oid == BOOLEAN:
        return text == b"t"
    if oid == BYTES:
        return bytes.fromhex(text[2:].decode())
    return text.decode()


class Session:
    """A connection to the server whose Unix socket is in the folder `place`, or, if it is a number, to that port of loopback.

    `notices` has the warnings of the last question, and `tags` what each of its statements did.
    """

    def __init__(self, place, user, database, seconds=SECONDS, **settings):
        self.notices, self.tags = [], []
        self.received, self.place = b"", 0
        try:
            is_port = isinstance(place, int)
            self.socket = socket.socket(socket.AF_INET if is_port else socket.AF_UNIX)
            self.socket.settimeout(seconds)
            self.socket.connect(("127.0.0.1", place) if is_port else place + "/.s.PGSQL.5432")
            words = {"user": user, "database": database, "client_encoding": "UTF8", **settings}
            text = "".join("%s\0%s\0" % pair for pair in words.items()).encode() + b"\0"
            self.socket.sendall(struct.pack("!ii", len(text) + 8, 3 << 16) + text)
        except OSError as error:
            raise Lost(str(error)) from error
        self.results()

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def message(self):
        """The next message: its type and body."""
        try:
            while True:
                if len(self.received) >= self.place + 5:
                    kind, length = struct.unpack_from("!ci", self.received, self.place)
                    end = self.place + 1 + length
                    if len(self.received) >= end:
                        body = self.received[self.place + 5:end]
                        self.place = end
                        return kind, body
                piece = self.socket.recv(1 << 20)
                if not piece:
                    raise Lost("the server closed the connection")
                self.received, self.place = self.received[self.place:] + piece, 0
        except OSError as error:
            raise Lost(str(error)) from error

    def results(self):
        """The rows and tags of what was asked, until the server is ready for the next question."""
        rows, types, refused = [], [], None
        self.notices, self.tags = [], []
        while True:
            kind, body = self.message()
            if kind == b"R" and body != b"\0\0\0\0":
                raise Refused({"M": "the server asks for a password", "C": "28000"})
            elif kind == b"T":
                types, place = [], 2
                for _ in range(struct.unpack_from("!h", body)[0]):
                    place = body.index(b"\0", place) + 1
                    types.append(struct.unpack_from("!i", body, place + 6)[0])
                    place += 18
            elif kind == b"D":
                row, place = [], 2
                for oid in types:
                    length = struct.unpack_from("!i", body, place)[0]
                    place += 4
                    row.append(value(oid, None if length < 0 else body[place:place + length]))
                    place += max(length, 0)
                rows.append(tuple(row))
            elif kind == b"C":
                self.tags.append(body[:-1].decode())
            elif kind == b"N":
                self.notices.append(fields_of(body))
            elif kind == b"E":
                refused = Refused(fields_of(body))
                # The server ends the session after a fatal error and sends nothing else.
                if fields_of(body).get("V") in ("FATAL", "PANIC"):
                    raise refused
            elif kind == b"Z":
                if refused:
                    raise refused
                return rows

    def ask(self, sql):
        """Runs statements as one simple query; the rows of all of them."""
        text = sql.encode() + b"\0"
        try:
            self.socket.sendall(b"Q" + struct.pack("!i", len(text) + 4) + text)
        except OSError as error:
            raise Lost(str(error)) from error
        return self.results()

    def one(self, sql):
        """The first column of the first row; None without a row."""
        rows = self.ask(sql)
        return rows[0][0] if rows else None
