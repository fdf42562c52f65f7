import assert from "node:assert/strict";
import { test } from "node:test";
import { errors } from "undici";
import { dialFailure, exchangeFailure, isEndOfConnection, type Phase } from "./failure.ts";

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}

test("a connection that does not come about has the reason of its code", () => {
  const reasons: Readonly<Record<string, string>> = {
    ECONNREFUSED: "connect_refused",
    ETIMEDOUT: "connect_timeout",
    ECONNRESET: "conn_reset",
    EHOSTUNREACH: "connect_error",
    ENETUNREACH: "connect_error",
    EMFILE: "local_resource",
    ENFILE: "local_resource",
    EADDRNOTAVAIL: "local_resource",
    ENOBUFS: "local_resource",
  };
  for (const [code, reason] of Object.entries(reasons))
    assert.equal(dialFailure(withCode(code), "connect").reason, reason, code);
});

test("TLS tells age, name, trust and protocol apart", () => {
  const reasons: Readonly<Record<string, string>> = {
    CERT_HAS_EXPIRED: "tls_expired",
    CERT_NOT_YET_VALID: "tls_expired",
    ERR_TLS_CERT_ALTNAME_INVALID: "tls_name",
    DEPTH_ZERO_SELF_SIGNED_CERT: "tls_untrusted",
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: "tls_untrusted",
    ERR_SSL_WRONG_VERSION_NUMBER: "tls_protocol",
    ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: "tls_protocol",
    ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: "tls_protocol",
    ERR_SSL_EXCESSIVE_MESSAGE_SIZE: "tls_error",
    ECONNRESET: "conn_reset",
    EMFILE: "local_resource",
  };
  for (const [code, reason] of Object.entries(reasons))
    assert.equal(dialFailure(withCode(code), "tls").reason, reason, code);
});

test("the same end of a connection is a reset before the body, and a short body in it", () => {
  const closed = new errors.SocketError("other side closed");
  assert.equal(exchangeFailure(closed, "sent"), "conn_reset");
  assert.equal(exchangeFailure(closed, "head"), "conn_reset");
  assert.equal(exchangeFailure(closed, "body"), "body_short");
  assert.ok(isEndOfConnection(closed) && isEndOfConnection(withCode("ECONNRESET")));
  assert.ok(!isEndOfConnection(new errors.SocketError("bad response")));
});

test("every error, even one that nobody foresaw, has a reason in every phase", () => {
  const phases: readonly Phase[] = ["connect", "tls", "sent", "head", "body"];
  const thrown: readonly unknown[] = [new Error("?"), withCode("EWHATEVER"), "text", undefined, {}];
  for (const phase of phases)
    for (const error of thrown)
      assert.match(exchangeFailure(error, phase), /^[a-z_]+$/, `${String(error)} in ${phase}`);
});
