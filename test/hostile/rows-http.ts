/** B3 and B4: framing that lies, headers without end, statuses that are none, redirects nowhere. */

import { answer, failed, floods, type Row, says, saysAndEnds } from "./row.ts";

const BODY = "Content-Type: text/html\r\nContent-Length: 2\r\n\r\nhi";
const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

const LINES_BODY = "Content-Type: text/html\nContent-Length: 5\n\na\nb\r\n";
/** RFC 9112, 2.2: such a line may be accepted; its body stays as it is. */
const BARE_LINE_ENDS: readonly Case[] = [
  ["H13c", "ends its lines with a bare LF", `HTTP/1.1 200 OK\n${LINES_BODY}`],
  ["H13f", "ends only its last lines with a bare LF", `HTTP/1.1 200 OK\r\n${LINES_BODY}`],
  [
    "H13g",
    "ends the lines of an interim answer with a bare LF, too",
    `HTTP/1.1 103 Early Hints\nX: y\n\nHTTP/1.1 200 OK\n${LINES_BODY}`,
  ],
  [
    "H13h",
    "chunks its body below bare LFs",
    "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\r\na\nb\r\n\r\n0\r\n\r\n",
  ],
];

type Case = readonly [id: string, does: string, text: string];

/** Rows that differ only in what is said. */
function each(reason: Parameters<typeof failed>[0], cases: readonly Case[]): Row[] {
  return cases.map(([id, does, text]) => saying(id, does, text, failed(reason)));
}

function saying(id: string, does: string, text: string | Buffer, ends: Row["ends"]): Row {
  return { id, does, ends, ...says(text) };
}

function withHeaders(fields: string): string {
  return `HTTP/1.1 200 OK\r\n${fields}\r\n`;
}

export const FRAMING_ROWS: readonly Row[] = [
  {
    id: "H1",
    does: "sends headers without end",
    ends: failed("header_too_large"),
    receivedBytesMax: 1_000_000,
    ...floods("HTTP/1.1 200 OK\r\nX: ", "x"),
  },
  {
    id: "H1b",
    does: "sends a status line without end",
    ends: failed("header_too_large"),
    ...floods("HTTP/1.1 200 ", "x"),
  },
  {
    id: "H2",
    does: "sends 100,000 tiny header fields",
    ends: failed("header_too_many"),
    ...says(withHeaders("a: b\r\n".repeat(100_000))),
  },
  {
    id: "H2b",
    does: "sends 257 header fields",
    ends: failed("header_too_many"),
    ...says(withHeaders(`${"a: b\r\n".repeat(256)}Content-Length: 0\r\n`)),
  },
  {
    id: "H2c",
    does: "sends 256 header fields",
    ends: { kind: "page" },
    ...says(withHeaders(`${"a: b\r\n".repeat(255)}Content-Length: 0\r\n`)),
  },
  {
    id: "H3",
    does: "sends a header value of a megabyte",
    ends: failed("header_too_large"),
    ...says(withHeaders(`X: ${"x".repeat(1_000_000)}\r\n`)),
  },
  ...each("bad_framing", [
    [
      "H4",
      "sends two different lengths",
      withHeaders("Content-Length: 2\r\nContent-Length: 3\r\n"),
    ],
    [
      "H5",
      "sends a length together with chunks",
      `${withHeaders("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")}0\r\n\r\n`,
    ],
    ["H6a", "sends a negative length", withHeaders("Content-Length: -1\r\n")],
    ["H6b", "sends a length of 1e9", withHeaders("Content-Length: 1e9\r\n")],
    [
      "H6c",
      "sends a length beyond 64 bits",
      withHeaders("Content-Length: 99999999999999999999\r\n"),
    ],
    ["H6d", "sends an empty length", withHeaders("Content-Length: \r\n")],
    ["H6e", "sends a list of lengths", withHeaders("Content-Length: 5, 5\r\n")],
    ["H7", "sends a chunk size beyond 64 bits", `${CHUNKED}fffffffffffffffff\r\nx`],
    ["H7b", "sends a chunk size that is no number", `${CHUNKED}-5\r\nx`],
    [
      "H11b",
      "sends an unasked 100 Continue",
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n${BODY}`,
    ],
    ["H13a", "puts a NUL into a header", withHeaders("X: a\0b\r\nContent-Length: 0\r\n")],
    ["H13b", "puts a bare CR into a header", withHeaders("X: a\rLocation: /evil\r\n")],
    ["H13d", "folds a header over two lines", withHeaders("X: a\r\n  b\r\nContent-Length: 0\r\n")],
    ["H13e", "puts a blank into a header name", withHeaders("Content Length: 5\r\n")],
    ["H15", "switches protocols unasked", withHeaders("").replace("200 OK", "101 Switching")],
    [
      "H15b",
      "switches to a named protocol unasked",
      "HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
    ],
    [
      "H21",
      "uses a transfer coding that nobody offered",
      `${CHUNKED.replace("chunked", "gzip, chunked")}0\r\n\r\n`,
    ],
  ]),
  {
    id: "H8",
    does: "sends a chunk extension without end",
    ends: failed("bad_framing"),
    ...floods(`${CHUNKED}5;`, "x"),
  },
  {
    id: "H8c",
    does: "hides a megabyte in a chunk extension of a page of two bytes",
    ends: failed("bad_framing"),
    ...says(`${CHUNKED}2;${"x".repeat(1_000_000)}\r\nhi\r\n0\r\n\r\n`),
  },
  {
    id: "H8b",
    does: "sends trailers without end",
    ends: failed("bad_framing"),
    ...floods(`${CHUNKED}2\r\nhi\r\n0\r\n`, "a: b\r\n"),
  },
  {
    id: "H9",
    does: "sends chunks without end",
    ends: failed("body_too_large"),
    ...floods(CHUNKED, "10\r\n0123456789abcdef\r\n"),
  },
  ...each("bad_status", [
    ["H10a", "sends status 000", `HTTP/1.1 000 Zero\r\n${BODY}`],
    ["H10b", "sends status 99", `HTTP/1.1 99 Low\r\n${BODY}`],
    ["H10c", "sends status 1000", `HTTP/1.1 1000 High\r\n${BODY}`],
    ["H10d", "sends a word for a status", `HTTP/1.1 OK\r\n${BODY}`],
    ["H10e", "sends a page without any headers, as HTTP/0.9 did", "<html><p>old</p></html>\r\n"],
    ["H10f", "speaks another protocol", "220 mail.example ESMTP ready\r\n"],
    ["H10g", "sends status 999", answer("999 Denied", "").toString()],
  ]),
  {
    id: "H11",
    does: "sends 1,000 early hints",
    ends: failed("bad_framing"),
    ...says("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(1000)),
  },
  {
    id: "H11c",
    does: "sends three early hints, then the page",
    ends: { kind: "page", bodyBytes: 2 },
    ...says(`${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(3)}HTTP/1.1 200 OK\r\n${BODY}`),
  },
  {
    id: "H12",
    does: "sends 204 with a body",
    ends: { kind: "page", bodyBytes: 0 },
    times: 3,
    ...says(answer("204 No Content", "", "but there is some")),
  },
  {
    id: "H14",
    does: "sends several types, the first of them no type",
    ends: { kind: "page" },
    ...says(answer("200 OK", "Content-Type: \xff\xfe\r\nContent-Type: text/html\r\n", "<p>")),
  },
  {
    id: "H16",
    does: "sends a part that nobody asked for",
    ends: failed("bad_partial"),
    ...says(answer("206 Partial", "Content-Range: bytes 0-1/10\r\n", "hi")),
  },
  ...each("auth_required", [
    ["H17", "asks for a password", answer("401 No", "WWW-Authenticate: Basic\r\n").toString()],
    ["H17b", "asks as a proxy would", answer("407 No", "Proxy-Authenticate: Basic\r\n").toString()],
  ]),
  busy("H18a", "10", 10_000),
  busy("H18b", "315360000", 3_600_000),
  busy("H18c", "Mon, 01 Jan 2001 00:00:00 GMT", undefined),
  busy("H18d", "soon", undefined),
  { id: "H19", does: "fails every time", ends: failed("http_500"), ...says(answer("500 Oh", "")) },
  {
    id: "H22",
    does: "sends a body that only the end of the connection ends",
    ends: { kind: "page", remark: "eof_delimited", bodyBytes: 5 },
    ...saysAndEnds("HTTP/1.0 200 OK\r\n\r\nwhole"),
  },
  ...BARE_LINE_ENDS.map(([id, does, text]): Row => ({
    id,
    does,
    times: 3,
    ends: { kind: "page", remark: "bare_line_ends", bodyBytes: 5 },
    ...says(text),
  })),
  {
    id: "H13i",
    does: "ends the lines of its chunk sizes with a bare LF",
    ends: failed("bad_framing"),
    ...says(`${CHUNKED}2\nhi\n0\n\n`),
  },
];

function busy(id: string, after: string, retryAfterMs: number | undefined): Row {
  const text = answer("429 Busy", `Retry-After: ${after}\r\n`);
  return saying(id, `is busy until: ${after}`, text, { kind: "busy", retryAfterMs });
}

/** A redirect with this Location. */
function leadsTo(id: string, does: string, location: string, ends: Row["ends"]): Row {
  return saying(id, does, answer("302 Found", `Location: ${location}\r\n`), ends);
}

const LONG = `/${"x".repeat(30_000)}`;

export const REDIRECT_ROWS: readonly Row[] = [
  leadsTo("R1", "redirects to itself", "/", failed("redirect_loop")),
  ...each("bad_redirect", [
    ["R4a", "redirects without saying where", answer("301 Moved", "").toString()],
  ]),
  leadsTo("R4b", "redirects to nothing", " ", failed("bad_redirect")),
  leadsTo("R4c", "redirects to a very long address", LONG, failed("bad_redirect")),
  leadsTo("R4d", "redirects to what is no address", "http://[::1", failed("bad_redirect")),
  leadsTo("R5a", "redirects to a file", "file:///etc/passwd", failed("scheme_refused")),
  leadsTo("R5b", "redirects to data", "data:text/html,<p>", failed("scheme_refused")),
  leadsTo("R5c", "redirects to a script", "javascript:alert(1)", failed("scheme_refused")),
  leadsTo("R5d", "redirects to ftp", "ftp://127.0.0.1/", failed("scheme_refused")),
  leadsTo("R5e", "redirects to gopher", "gopher://127.0.0.1:70/", failed("scheme_refused")),
  leadsTo("R6", "redirects inside the network", "http://169.254.169.254/latest/", {
    kind: "redirect",
    to: "http://169.254.169.254/latest/",
  }),
  leadsTo("R8", "redirects to another host", "http://other.example/x", {
    kind: "redirect",
    to: "http://other.example/x",
  }),
  leadsTo("R9a", "redirects with bare letters and blanks", "http://h.example/stra\xc3\x9fe a\\b", {
    kind: "redirect",
    to: "http://h.example/stra%C3%9Fe%20a/b",
  }),
  leadsTo("U7", "redirects to the mail port", "http://127.0.0.1:25/", failed("port_refused")),
];
