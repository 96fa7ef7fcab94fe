"""Sends pushes with PyPI aioapns: push_aioapns.py PORT CA KEY.p8 KEYID TEAMID PUSHES IN-FLIGHT.

One connection. aioapns knows no `location` type and no other server than Apple's, so both are set here.
"""
import asyncio
import json
import resource
import ssl
import sys
import time
import types

from aioapns import APNs, NotificationRequest
from aioapns.connection import APNsProductionClientProtocol

port, trust, key_file, key_id, team_id, pushes, in_flight = sys.argv[1:]
pushes, in_flight = int(pushes), int(in_flight)
APNsProductionClientProtocol.APNS_SERVER = "localhost"
APNsProductionClientProtocol.APNS_PORT = int(port)
context = ssl.create_default_context(cafile=trust)
context.set_alpn_protocols(["h2"])
location = types.SimpleNamespace(value="location")
token = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"


def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def main():
    with open(key_file) as file:
        key = file.read()
    client = APNs(
        key=key, key_id=key_id, team_id=team_id, topic="org.example.app.location-query", max_connections=1,
        ssl_context=context)
    left = iter(range(pushes))

    async def work():
        for number in left:
            result = await client.send_notification(
                NotificationRequest(
                    device_token=token, message={"aps": {}, "query": "6b1c4f6e-3f60-4cb9-9d1f-2f5f1a1f7a03"},
                    notification_id=f"{number:08x}-0000-4000-8000-{number:012x}", time_to_live=60, priority=10,
                    collapse_key="device-3", push_type=location))
            assert result.is_successful

    begun, cpu = time.monotonic(), used()
    await asyncio.gather(*(work() for _ in range(in_flight)))
    seconds, cpu = time.monotonic() - begun, used() - cpu
    print(json.dumps(
        {"pushes": pushes, "pushesPerSecond": round(pushes / seconds), "cpuMicroseconds": round(cpu / pushes * 1e6, 2)},
        separators=(",", ":")))


asyncio.run(main())
