"""Validates every example of an OpenAPI description against its schema: openapi_examples.py FILE"""
import json
import sys

import jsonschema_rs

EXPECTED = 120  # examples that the description has at least


def main():
    document = json.load(open(sys.argv[1], encoding="utf-8"))
    wrong, count = [], 0

    def validate(example, schema, place):
        nonlocal count
        count += 1
        whole = {**schema, "components": document["components"]}
        for error in jsonschema_rs.Draft202012Validator(whole, validate_formats=True).iter_errors(example):
            wrong.append(f"{place}: {error.message} at {error.instance_path}")

    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method == "parameters":
                continue
            contents = [("body", operation.get("requestBody", {}))] + list(operation["responses"].items())
            for name, content in contents:
                for kind, medium in content.get("content", {}).items():
                    if "example" in medium:
                        validate(medium["example"], medium["schema"], f"{method.upper()} {path} {name} {kind}")
    if wrong or count < EXPECTED:
        raise SystemExit("\n".join(wrong + [f"{count} examples, {len(wrong)} wrong"]))
    print(f"examples of the description: {count} are valid")


main()
