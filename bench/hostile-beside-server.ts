/**
 * The servers of `hostile-beside.ts`: `healthy N` or `hostile N`. The first line of output is the list of URLs as JSON;
 * after SIGUSR2 a healthy server writes the number of pages served since.
 */

import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { HOSTILE_ROWS, startHostileWeb } from "../test/hostile/hostile-web.ts";
import { answer, type Row, says } from "../test/hostile/row.ts";

const [kind = "", count = "1"] = process.argv.slice(2);
const PORT = 18_080;
const MIB = 2 ** 20;

/** Sites without end, whose pages of 12 KiB link to 20 others. */
async function serveHealthy(sites: number): Promise<void> {
  const text = "<p>A healthy page has some words of text, and links.</p>\n".repeat(190);
  let pages = 0;
  const urls: string[] = [];
  for (let site = 1; site <= sites; site++) {
    const host = `127.9.0.${site}`;
    const server = createServer((request, response) => {
      const path = request.url ?? "/";
      if (path === "/robots.txt" || path.endsWith(".xml"))
        return void response.writeHead(404).end();
      pages += 1;
      const number = Number(path.slice(2)) || 0;
      let links = "";
      for (let link = 1; link <= 20; link++)
        links += `<a href="/p${number * 20 + link}">${link}</a>\n`;
      response.writeHead(200, { "content-type": "text/html" });
      response.end(`<title>${path}</title>${links}${text}${path}`);
    });
    server.keepAliveTimeout = 60_000;
    await new Promise<void>((resolve) => server.listen(PORT, host, resolve));
    urls.push(`http://${host}:${PORT}/`);
  }
  process.on("SIGUSR2", () => {
    console.log(pages);
    pages = 0;
  });
  console.log(JSON.stringify(urls));
}

/** The rows of the hostile tests, and pages of 8 MB of different kinds up to the number wanted. */
async function serveHostile(wanted: number): Promise<void> {
  const large: Row[] = [];
  for (let index = 0; HOSTILE_ROWS.length + large.length < wanted; index++)
    large.push(largeRow(index));
  const rows = [...HOSTILE_ROWS, ...large];
  const addressOf = (index: number): string => `127.10.${index >> 7}.${1 + (index & 127)}`;
  const { places } = await startHostileWeb(rows, addressOf);
  console.log(JSON.stringify(places.map(({ url }) => url)));
}

const LARGE: readonly ((number: number) => string | Buffer)[] = [
  (number) => `<a href=${number}>`,
  (number) => `<a href="%7e${number}&#x2f;é">x</a>`,
  (number) => `<img srcset="a${number} 1x, b${number} 2x">`,
  () => "<p>Lorem ipsum dolor sit amet, ",
  () => "<svg><a href=x>",
  () => '<a href="%7e&#x2f;é">',
  (number) => `<a href=http://h${number}.example/>`,
  () => Buffer.from("<p>na\xefve caf\xe9 ", "latin1"),
];

function largeRow(index: number): Row {
  const piece = LARGE[index % LARGE.length] as (typeof LARGE)[number];
  let body: Buffer | undefined;
  const make = (): Buffer => {
    const pieces: Buffer[] = [Buffer.from(`<title>${index}</title>`)];
    for (let bytes = 0, number = 0; bytes < 7.5 * MIB; number++) {
      const one = Buffer.from(piece(number));
      pieces.push(one);
      bytes += one.length;
    }
    const plain = Buffer.concat(pieces);
    const isPacked = index % 3 === 2;
    const coding = isPacked ? "Content-Encoding: gzip\r\n" : "";
    return answer(
      "200 OK",
      `Content-Type: text/html\r\n${coding}`,
      isPacked ? gzipSync(plain) : plain,
    );
  };
  return {
    id: `L${index}`,
    does: "sends a page of 8 MB",
    ends: { kind: "page" },
    onRequest: (asked) => says((body ??= make())).onRequest?.(asked),
  };
}

if (kind === "healthy") await serveHealthy(Number(count));
else await serveHostile(Number(count));
