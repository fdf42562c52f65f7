/** B1 and B2: connections that are refused, cut, slow or silent, and TLS that is not what it says. */

import { ELSEWHERE, ESCAPES, EXPIRED, GOOD, KEY, SELF_SIGNED } from "./certificates.ts";
import { patientClock } from "../../src/base/patient-clock.suite.ts";
import { answer, drips, failed, type Row, says, saysAndEnds } from "./row.ts";

const OK = answer("200 OK", "Content-Type: text/html\r\n", "<p>fine</p>");
const HALF = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf of it";

export const CONNECTION_ROWS: readonly Row[] = [
  {
    id: "T1",
    does: "never answers the SYN",
    ends: failed("connect_timeout"),
    port: "full",
  },
  { id: "T2", does: "refuses the connection", ends: failed("connect_refused"), port: "closed" },
  {
    id: "T3",
    does: "resets right after accepting",
    ends: failed("conn_reset"),
    onConnection: (socket) => void socket.resetAndDestroy(),
  },
  {
    id: "T3b",
    does: "closes right after the request",
    ends: failed("conn_reset"),
    onRequest: ({ socket }) => void socket.end(),
  },
  {
    id: "T4",
    does: "reads the request and never answers",
    ends: failed("first_byte_timeout"),
    onRequest() {},
  },
  {
    id: "T5",
    does: "sends the headers byte by byte",
    ends: failed("too_slow"),
    ...drips("HTTP/1.1 200 OK\r\nX: ", "x", 50),
  },
  {
    id: "T6",
    does: "sends the body byte by byte",
    ends: failed("too_slow"),
    ...drips("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", "x", 50),
  },
  {
    id: "T7",
    does: "stalls in the middle of the body",
    ends: failed("idle_timeout"),
    ...says(HALF),
  },
  {
    id: "T7b",
    does: "stalls in the middle of the headers",
    ends: failed("idle_timeout"),
    ...says("HTTP/1.1 200 OK\r\nContent-Le"),
  },
  {
    id: "T8",
    does: "ends the connection before the body is whole",
    ends: failed("body_short"),
    ...saysAndEnds(HALF),
  },
  {
    id: "T8b",
    does: "ends the connection in the middle of a chunk",
    ends: failed("body_short"),
    ...saysAndEnds("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\nhalf"),
  },
  {
    id: "T9",
    does: "resets in the middle of the body",
    ends: failed("conn_reset"),
    onRequest({ socket }) {
      socket.write(HALF, () => patientClock.after(30, () => socket.resetAndDestroy()));
    },
  },
  {
    id: "T10",
    does: "leaves kept connections between requests",
    ends: { kind: "page" },
    times: 4,
    onRequest({ socket, earlier }) {
      if (earlier === 0) socket.write(OK);
      else socket.destroy();
    },
  },
  {
    id: "T11",
    does: "sends a second, unasked answer",
    ends: { kind: "page", bodyBytes: 11 },
    times: 3,
    ...says(Buffer.concat([OK, answer("200 OK", "", "the page of somebody else")])),
  },
];

const FINE = { key: KEY, cert: GOOD };

export const TLS_ROWS: readonly Row[] = [
  { id: "L0", does: "speaks TLS as it should", ends: { kind: "page" }, tls: FINE, ...says(OK) },
  {
    id: "L1",
    does: "shows an expired certificate",
    ends: failed("tls_expired"),
    tls: { key: KEY, cert: EXPIRED },
    ...says(OK),
  },
  {
    id: "L2",
    does: "shows the certificate of another host",
    ends: failed("tls_name"),
    tls: { key: KEY, cert: ELSEWHERE },
    ...says(OK),
  },
  {
    id: "L3",
    does: "shows a certificate that it signed itself",
    ends: failed("tls_untrusted"),
    tls: { key: KEY, cert: SELF_SIGNED },
    ...says(OK),
  },
  {
    id: "L4",
    does: "knows only TLS 1.0",
    ends: failed("tls_protocol"),
    tls: { ...FINE, minVersion: "TLSv1", maxVersion: "TLSv1", ciphers: "DEFAULT@SECLEVEL=0" },
    ...says(OK),
  },
  {
    id: "L5",
    does: "never completes the handshake",
    ends: failed("tls_timeout"),
    tls: FINE,
    onConnection: (socket) => void socket.on("data", () => {}),
  },
  {
    id: "L6",
    does: "speaks plain HTTP where TLS is expected",
    ends: failed("tls_protocol"),
    tls: FINE,
    onConnection: (socket) => void socket.once("data", () => socket.write(OK)),
  },
  {
    id: "L6b",
    does: "sends rubbish in the handshake",
    ends: failed("tls_protocol"),
    tls: FINE,
    onConnection: (socket) => void socket.once("data", () => socket.write(Buffer.alloc(5000, 7))),
  },
  {
    id: "L7",
    does: "shows a chain of hundreds of certificates",
    ends: failed("tls_error"),
    tls: { key: KEY, cert: [GOOD, ...Array.from({ length: 400 }, () => ELSEWHERE)].join("\n") },
    ...says(OK),
  },
  {
    id: "L8",
    does: "shows a certificate with terminal escapes in its names",
    ends: failed("tls_name"),
    tls: { key: KEY, cert: ESCAPES },
    ...says(OK),
  },
  {
    id: "L10",
    does: "ends a body without length by dropping the connection, without close_notify",
    ends: { kind: "page", remark: "eof_delimited" },
    tls: FINE,
    onRequest({ socket, tcp }) {
      socket.write("HTTP/1.1 200 OK\r\n\r\nperhaps whole", () =>
        patientClock.after(30, () => tcp.end()),
      );
    },
  },
  {
    id: "L11",
    does: "resets in the middle of the handshake",
    ends: failed("conn_reset"),
    tls: FINE,
    onConnection: (socket) => void socket.once("data", () => socket.resetAndDestroy()),
  },
];
