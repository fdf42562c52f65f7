/**
 * Stands between a crawler and the servers on loopback, and counts what it hands to the crawler.
 *
 *   node bench/bandwidth-relay.ts SERVER_PORT PORT ADDRESS…
 *
 * Prints "<ms> <bytes>" every 100 ms, as `bandwidth-sampler.ts` does.
 *
 * Only for machines where no network namespace can be made. A byte counts when the kernel has taken
 * it for the crawler, so up to a socket buffer of each connection counts before it is read.
 */

import { connect, createServer, type Socket } from "node:net";

const TICK_MS = 100;
const DECIMALS = 3;

const [serverPort, port, ...addresses] = process.argv.slice(2);
let bytes = 0;
for (const address of addresses)
  createServer({ noDelay: true }, relay).listen(Number(port), address);
setInterval(() => {
  const atMs = Number(process.hrtime.bigint()) / 1e6;
  process.stdout.write(`${atMs.toFixed(DECIMALS)} ${bytes}\n`);
}, TICK_MS);

function relay(crawler: Socket): void {
  const server = connect({ port: Number(serverPort), host: "127.0.0.1", noDelay: true });
  crawler.on("error", () => server.destroy());
  server.on("error", () => crawler.destroy());
  crawler.on("close", () => server.destroy());
  server.on("close", () => crawler.destroySoon());
  crawler.pipe(server);
  server.on("data", (piece) => {
    const hasRoom = crawler.write(piece, () => {
      bytes += piece.length;
    });
    if (hasRoom) return;
    server.pause();
    crawler.once("drain", () => server.resume());
  });
}
