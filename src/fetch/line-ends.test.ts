import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import { LineEnds } from "./line-ends.ts";

test("heads are repaired and bodies left alone, wherever the pieces are cut", () => {
  const body = "5\nhello\r\n0\n\n<p>\n\r\n\n";
  const heads: readonly (readonly [sent: string, parsed: string, repaired: number])[] = [
    ["HTTP/1.1 200 OK\nA: b\n\n", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n", 3],
    ["HTTP/1.1 200 OK\r\nA: b\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n", 1],
    ["HTTP/1.1 200 OK\r\nA: b\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n", 0],
    [
      "\nHTTP/1.1 103 x\n\nHTTP/1.1 404 x\n\n",
      "\r\nHTTP/1.1 103 x\r\n\r\nHTTP/1.1 404 x\r\n\r\n",
      5,
    ],
    ["HTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 x\n\n", "HTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 x\r\n\r\n", 2],
  ];
  const ends = new LineEnds();
  for (let seed = 1; seed <= 500; seed++) {
    const random = randomFrom(seed);
    const [sent, parsed, repaired] = heads[seed % heads.length] ?? ["", "", 0];
    const bytes = Buffer.from(sent + body);
    const read: Buffer[] = [];
    ends.begin();
    for (let at = 0; at < bytes.length;) {
      const end = at + 1 + Math.floor(random.next() * (seed % 2 === 0 ? 3 : 30));
      read.push(ends.take(bytes.subarray(at, end)));
      at = end;
    }
    assert.equal(Buffer.concat(read).toString(), parsed + body, `seed ${seed}`);
    assert.equal(ends.repaired, repaired, `seed ${seed}`);
  }
});
