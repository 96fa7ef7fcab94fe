"""What the judge of the interface does as every client has to; see schemathesis.toml."""

import uuid

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    """No two requests have one Idempotency-Key: else the second would be told again what the first has made."""
    # A request that breaks the description in a header stays as it is.
    is_negative = case.meta is not None and case.meta.generation.mode.is_negative
    if not is_negative and "Idempotency-Key" in (case.headers or {}):
        case.headers["Idempotency-Key"] = str(uuid.uuid4())
