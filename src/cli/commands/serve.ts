/** `weir serve DIR`: the dashboard of a crawl, running or not, until Ctrl-C. */

import { visible } from "../../base/visible.ts";
import type { FieldTable } from "../../config/field.ts";
import { SETTINGS } from "../../config/schema.ts";
import { serveDashboard } from "../../dashboard/server.ts";
import { storeFolders } from "../../store/team-file.ts";
import { readArgs } from "../args.ts";
import { refuseSeveral } from "../crawl-list.ts";
import { dashboardWish, isOpenToOthers, OPEN_TO_OTHERS } from "../dashboard.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Command } from "../help.ts";

const FLAGS = {
  dashboard: {
    ...SETTINGS.dashboard,
    key: "port",
    meaning: "Port to listen on.",
    fallback: "auto",
  },
  dashboardHost: { ...SETTINGS.dashboardHost, key: "host" },
  dashboardToken: { ...SETTINGS.dashboardToken, key: "token" },
  speedsFile: SETTINGS.speedsFile,
} as const satisfies FieldTable;

export const command: Command = {
  run,
  page: {
    usage: "weir serve DIR [--port PORT] [--host ADDRESS]",
    about:
      "Serves a dashboard of the crawl in DIR until Ctrl-C, running or not; a running crawl can be changed there. It is reachable only from this machine and with the token in the printed URL. `weir crawl --dashboard` serves it from the start.",
    examples: [
      ["weir serve weir-data/example.org", "open the printed URL in a browser"],
      ["weir serve weir-data/example.org --port 9000", "on a fixed port"],
      [
        "ssh -L 8674:127.0.0.1:8674 crawler.example",
        "run first for a crawl on another machine; its URL then works here",
      ],
    ],
    groups: { Flags: FLAGS },
    ending: "Metrics for Prometheus are at /metrics, with the same token; see docs/dashboard.md.",
  },
};

async function run(words: readonly string[]): Promise<ExitCode> {
  const { positional, flags } = readArgs(words, ["DIR"], FLAGS);
  const [folder = ""] = positional;
  await refuseSeveral(folder, "weir serve");
  // Throws when the folder holds no crawl.
  storeFolders(folder);
  const wish = dashboardWish(folder, flags);
  if (wish === undefined) return EXIT.done;
  await using dashboard = await serveDashboard(wish);
  // Before the URL is printed, because its reader may interrupt at once.
  const enough = interrupted();
  if (isOpenToOthers(flags)) process.stderr.write(`${OPEN_TO_OTHERS}\n`);
  process.stdout.write(
    `${visible(folder, 200)} is shown at\n\n  ${dashboard.url}\n\nCtrl-C ends.\n`,
  );
  await enough;
  return EXIT.done;
}

async function interrupted(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  await promise;
}
