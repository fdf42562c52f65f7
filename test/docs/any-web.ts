/**
 * A web for commands that name any site: every host and path has an answer, and links to a dozen
 * others.
 *
 * Hosts of documents have different addresses, from 127.2.0.1 on, in order of their first use.
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const PAGES_PER_SITE = 8;
const HOST = /https?:\/\/((?:[a-z0-9-]+\.)*example(?:\.org|\.net)?|127\.0\.0\.1:8000)\b/g;
const WORDS =
  "The weir is a low dam across a river that raises the level of the water and lets it flow over. " +
  "Millers built weirs for their mill and scientists measure with them how much a river carries in a day. " +
  "This news is about science and research: a laboratory has published results of an experiment with water.";

export interface AnyWeb extends AsyncDisposable {
  /** The text with all sites in it led here. */
  here(text: string): string;
}

export async function startAnyWeb(): Promise<AnyWeb> {
  const server = createServer((request, response) => {
    if (request.url === "/robots.txt" || request.url?.startsWith("/sitemap") === true) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(pageAt(request.headers.host ?? "", request.url ?? "/"));
  });
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const { port } = server.address() as AddressInfo;
  const numbers = new Map<string, number>();
  return {
    here: (text) =>
      text.replaceAll(HOST, (_, host: string) => {
        const number = numbers.get(host) ?? numbers.size + 1;
        numbers.set(host, number);
        return `http://127.2.0.${number}:${port}`;
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pageAt(host: string, path: string): string {
  const links = Array.from({ length: PAGES_PER_SITE }, (_, number) => `/page/${number}`);
  const anchors = links.map((target) => `<a href="${target}">page ${target}</a>`).join(" ");
  return `<!doctype html><html lang="en"><title>News of ${host}${path}</title><p>${WORDS}</p>${anchors}`;
}
