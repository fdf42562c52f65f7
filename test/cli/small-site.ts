/**
 * A small web site on loopback, for trying the program as a person would.
 *
 * Its home page links to `pageCount` pages, each to the next one; it notes every request. Answers
 * may be held back, so that a crawl can be met in the middle of its work.
 */

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface SmallSite extends AsyncDisposable {
  readonly origin: string;
  /** Paths in the order asked for. */
  readonly requests: readonly string[];
}

export interface SitePlan {
  readonly pageCount: number;
  /** Never answers anything but robots.txt. */
  readonly isSilent?: boolean;
  /** Answers for some paths that replace the usual ones. */
  readonly special?: Readonly<Record<string, (response: ServerResponse) => void>>;
}

export async function startSite(plan: SitePlan): Promise<SmallSite> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    requests.push(path);
    const special = plan.special?.[path];
    if (special !== undefined) special(response);
    else if (path === "/robots.txt") response.writeHead(404).end();
    else if (plan.isSilent !== true) answer(path, plan.pageCount, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(path: string, pageCount: number, response: ServerResponse): void {
  const number = path === "/" ? 0 : Number(/^\/page\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
  if (!(number <= pageCount)) {
    response.writeHead(404, { "content-type": "text/html" }).end("<p>not here");
    return;
  }
  const targets =
    number === 0 ? Array.from({ length: pageCount }, (_, index) => index + 1) : [number + 1];
  const links = targets.map((target) => `<a href="/page/${target}">page ${target}</a>`);
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
  response.end(
    `<!doctype html><title>Page ${number}</title><p>Words ${number}. ${links.join(" ")}`,
  );
}
