"""Changes of schemathesis' requests; see schemathesis.toml."""

import uuid

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    """No two requests have one Idempotency-Key: else the second would be told again what the first has made."""
    # A request that breaks the description in a header stays as it is.
    is_negative = case.meta is not None and case.meta.generation.mode.is_negative
    if not is_negative and "Idempotency-Key" in (case.headers or {}):
        case.headers["Idempotency-Key"] = str(uuid.uuid4())


# What exists in the directory that scripts/dev/interface-test makes.
REAL = {"person": ["anna", "friend"], "device": ["anna-phone"]}


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    """Most requests are about people and devices that exist."""
    for name, real in REAL.items():
        value = (path_parameters or {}).get(name)
        if isinstance(value, str) and len(value) % 4 != 0:
            path_parameters[name] = real[len(value) % len(real)]
    return path_parameters
