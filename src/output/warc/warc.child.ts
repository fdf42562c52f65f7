/** Writes pages until it is killed, and reports the marks that a store would commit after every seven. */

import { randomFrom } from "../../base/random.ts";
import { openWarc } from "./warc.ts";

const [folder = "", marks = "{}"] = process.argv.slice(2);
const settings = { fileBytesMax: 60_000, level: 1, info: {} };
const output = openWarc(folder, JSON.parse(marks) as Record<string, number>, settings);
const random = randomFrom(process.pid);
for (let pages = 0; ;) {
  const writes = Array.from({ length: 7 }, () => {
    const body = Buffer.from(String(random.next()).repeat(200));
    return output.write({
      url: "http://example.org/",
      atMs: Date.now(),
      address: "192.0.2.1",
      requestHead: "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n",
      status: 200,
      statusText: "OK",
      httpVersion: "1.1",
      headers: [],
      body,
      truncated: undefined,
      repeats: undefined,
    });
  });
  await Promise.all(writes);
  pages += writes.length;
  process.stdout.write(`${JSON.stringify({ marks: output.marks(), pages })}\n`);
}
