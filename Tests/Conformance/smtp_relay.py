"""A mail relay on the loopback address, by PyPI aiosmtpd, until the input ends.

smtp_relay.py DESCRIPTOR SECURITY FILE CERTIFICATE KEY USER PASSWORD: accepts at the listening socket DESCRIPTOR. SECURITY
is none, starttls or tls; USER is empty without a sign-in. Each mail becomes a line of JSON in FILE, as Python's email
package reads it. Recipients whose name begins with "refused" get 550, those with "later" 451.
"""
import asyncio
import email
import email.policy
import json
import os
import socket
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


class Relay:
    def __init__(self, path):
        self.path = path

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("refused"):
            return "550 5.1.1 There is no such mailbox"
        if address.startswith("later"):
            return "451 4.3.0 Come again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        user = session.auth_data.login.decode() if session.auth_data else None
        line = {
            "sender": envelope.mail_from, "recipients": envelope.rcpt_tos, "user": user,
            "encrypted": server.transport.get_extra_info("ssl_object") is not None, "headers": [[name, str(value)] for name, value in mail.items()],
            "subject": str(mail["subject"]), "date": mail["date"].datetime.timestamp(),
            "id": str(mail["message-id"]), "text": mail.get_content(), "defects": [str(d) for d in mail.defects],
            "longest": max(len(line) for line in envelope.content.split(b"\r\n")),
        }
        with open(self.path, "a") as file:
            file.write(json.dumps(line) + "\n")
        return "250 2.0.0 Taken"


async def main(descriptor, security, path, certificate, key, user, password):
    context = None
    if security != "none":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)

    def check(server, session, envelope, mechanism, data):
        # The password of a user, as PLAIN and LOGIN give it.
        isGood = data.login == user.encode() and data.password == password.encode()
        return AuthResult(success=isGood, handled=isGood, auth_data=data)

    def session():
        return SMTP(
            Relay(path), hostname="relay.test", require_starttls=security == "starttls",
            tls_context=context if security == "starttls" else None, authenticator=check if user else None,
            auth_required=bool(user), auth_require_tls=security == "starttls")

    await asyncio.get_running_loop().create_server(
        session, sock=socket.socket(fileno=int(descriptor)), ssl=context if security == "tls" else None)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)
    os._exit(0)


asyncio.run(main(*sys.argv[1:]))
