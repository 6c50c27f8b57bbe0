"""A capability provider in Python, of its standard library alone: a person's own counters.

The library has no Ed25519, so signatures are checked by the program openssl (3.0 or newer). It is written from
docs/capabilities.md and shares no code with the bot. Its device flow is confirmed by nobody: the second poll is granted.
Usage: tally.py FOLDER
"""

import base64
import hashlib
import json
import os
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import time

NAMESPACE = "tally"
# An Ed25519 public key in DER: this, then its 32 bytes.
DER_HEAD = bytes.fromhex("302a300506032b6570032100")

NUMBER = {"type": "object", "properties": {"value": {"type": "integer"}}, "required": ["value"], "additionalProperties": False}
NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
STEP = {
    "type": "object",
    "properties": {"by": {"type": "integer", "minimum": 1, "maximum": 1000}},
    "required": ["by"],
    "additionalProperties": False,
}

DEFINITIONS = {
    "definitions": [
        {
            "id": "tally.counter",
            "description": "A person's own counter.",
            "sensitive": False,
            "allowed_chat_types": [],
            "operations": {
                "about": {
                    "description": "What this is.",
                    "requires_auth": False,
                    "mutating": False,
                    "input_schema": NOTHING,
                    "output_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
                },
                "value": {
                    "description": "How far the counter is.",
                    "requires_auth": True,
                    "mutating": False,
                    "input_schema": NOTHING,
                    "output_schema": NUMBER,
                },
                "bump": {
                    "description": "Moves the counter on.",
                    "requires_auth": True,
                    "mutating": True,
                    "input_schema": STEP,
                    "output_schema": NUMBER,
                },
            },
        }
    ]
}

TABLES = """
CREATE TABLE IF NOT EXISTS seen (jti TEXT PRIMARY KEY, expires REAL NOT NULL);
CREATE TABLE IF NOT EXISTS flows (ref TEXT PRIMARY KEY, user TEXT NOT NULL, polls INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS counters (user TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS outcomes (user TEXT, key TEXT, request TEXT NOT NULL, output TEXT NOT NULL, PRIMARY KEY (user, key));
"""


class Refusal(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = "capability_" + code


def canonical(value):
    """Sorted keys, no spaces. Enough where numbers are integers, as they are here."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def hash_of(value):
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def unpack(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def signature_holds(signed, signature):
    jwk = json.loads(os.environ["SKILLET_PUBLIC_JWK"])
    if jwk.get("kty") != "OKP" or jwk.get("crv") != "Ed25519":
        return False
    with tempfile.TemporaryDirectory() as folder:
        def put(name, data):
            place = os.path.join(folder, name)
            with open(place, "wb") as file:
                file.write(data)
            return place

        key = put("key", DER_HEAD + unpack(jwk["x"]))
        command = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", key, "-rawin"]
        command += ["-in", put("signed", signed), "-sigfile", put("signature", signature)]
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def denied(message):
    return Refusal("access_denied", message)


def verify(store, method, params):
    """The user whom the host names, where it signed exactly this call."""
    try:
        head, body, signature = params["context_token"].split(".")
        header, claims = json.loads(unpack(head)), json.loads(unpack(body))
        raw = unpack(signature)
    except (KeyError, AttributeError, ValueError):
        raise denied("there is no token, or it is none")
    if header.get("alg") not in ("EdDSA", "Ed25519") or not signature_holds((head + "." + body).encode(), raw):
        raise denied("the signature does not hold")
    now = time.time()
    if claims.get("iss") != "skillet" or claims.get("aud") != NAMESPACE:
        raise denied("the token is for somebody else")
    begins, ends = claims.get("iat", 0), claims.get("exp", 0)
    if not begins - 5 <= now <= ends + 5 or ends - begins > 60:
        raise denied("the token is too old, or lives too long")
    rest = {name: value for name, value in params.items() if name != "context_token"}
    expected = {
        "method": method,
        "capability": params.get("capability_id"),
        "operation": params.get("operation"),
        "account": params.get("account_ref"),
        "input_hash": hash_of(params.get("input_data") if method == "invoke" else rest),
    }
    for name, value in expected.items():
        if claims.get(name) != value:
            raise denied("the token is for another " + name)
    store.execute("DELETE FROM seen WHERE expires < ?", (now,))
    if store.execute("INSERT OR IGNORE INTO seen VALUES (?, ?)", (claims.get("jti"), ends + 5)).rowcount == 0:
        raise denied("the token was used before")
    # Spent for good, whatever becomes of the call. The rest is a transaction of its own, begun before it reads anything:
    # two calls under one key wait for each other.
    store.commit()
    store.execute("BEGIN IMMEDIATE")
    return claims["sub"]


def invoke(store, user, params):
    operations = DEFINITIONS["definitions"][0]["operations"]
    name, given = params["operation"], params["input_data"]
    if name not in operations:
        raise Refusal("not_found", "there is no such operation")
    wanted = set(operations[name]["input_schema"].get("properties", {}))
    if set(given) != wanted or ("by" in given and (type(given["by"]) is not int or not 1 <= given["by"] <= 1000)):
        raise Refusal("invalid_input", "by is wanted, from 1 to 1000" if wanted else "nothing is wanted")
    if name == "about":
        return {"text": "A counter in Python " + sys.version.split()[0]}
    row = store.execute("SELECT value FROM counters WHERE user = ?", (user,)).fetchone()
    if row is None or params.get("account_ref") != "counter":
        raise Refusal("auth_required", "this person has no counter")
    if name == "value":
        return {"value": row[0]}
    key, request = params.get("idempotency_key"), hash_of([name, given])
    if not key:
        raise Refusal("invalid_input", "an idempotency_key is wanted")
    known = store.execute("SELECT request, output FROM outcomes WHERE user = ? AND key = ?", (user, key)).fetchone()
    if known is not None:
        if known[0] != request:
            raise Refusal("invalid_input", "this idempotency_key was used for something else")
        return json.loads(known[1])
    output = {"value": row[0] + given["by"]}
    store.execute("UPDATE counters SET value = ? WHERE user = ?", (output["value"], user))
    store.execute("INSERT INTO outcomes VALUES (?, ?, ?, ?)", (user, key, request, json.dumps(output)))
    return output


def auth_begin(store, user):
    ref = secrets.token_urlsafe(16)
    store.execute("INSERT INTO flows VALUES (?, ?, 0)", (ref, user))
    return {
        "auth_url": "http://127.0.0.1/tally",
        "flow_type": "device_code",
        "user_code": "TALLY",
        "poll_interval_seconds": 1,
        "flow_state": {"ref": ref},
    }


def auth_poll(store, user, params):
    ref = params["flow_state"].get("ref")
    row = store.execute("SELECT polls FROM flows WHERE ref = ? AND user = ?", (ref, user)).fetchone()
    if row is None:
        raise Refusal("auth_flow_invalid", "there is no such flow")
    if row[0] == 0:
        store.execute("UPDATE flows SET polls = 1 WHERE ref = ?", (ref,))
        return {"status": "pending", "retry_after_seconds": 1}
    store.execute("DELETE FROM flows WHERE ref = ?", (ref,))
    store.execute("INSERT OR IGNORE INTO counters VALUES (?, 0)", (user,))
    return {"account_ref": "counter", "credential_material": {}, "metadata": {"name": "the counter"}}


def answer(store, request):
    method, params = request.get("method"), request.get("params")
    if request.get("version") != 1 or request.get("namespace") != NAMESPACE or not isinstance(params, dict):
        raise Refusal("invalid_input", "version 1 and namespace tally are wanted")
    if method == "definitions":
        return DEFINITIONS
    if method not in ("auth_begin", "auth_complete", "auth_poll", "invoke"):
        raise Refusal("invalid_input", "there is no such method")
    user = verify(store, method, params)
    if params["capability_id"] != "tally.counter":
        raise Refusal("not_found", "there is no such capability")
    if method == "auth_begin":
        return auth_begin(store, user)
    if method == "auth_poll":
        return auth_poll(store, user, params)
    if method == "auth_complete":
        raise Refusal("auth_flow_invalid", "a device flow is completed by auth_poll")
    return {"output": invoke(store, user, params)}


def main():
    request = json.load(sys.stdin)
    folder = sys.argv[1]
    os.makedirs(folder, mode=0o700, exist_ok=True)
    os.umask(0o077)
    store = sqlite3.connect(os.path.join(folder, "tally.db"), timeout=5)
    store.executescript(TABLES)
    try:
        outcome = {"result": answer(store, request)}
        store.commit()
    except Refusal as error:
        store.rollback()
        outcome = {"error": {"code": error.code, "message": str(error)}}
    json.dump({"version": 1, "id": request["id"], **outcome}, sys.stdout)


main()
