/** Where the dashboard listens, and who may come in. */

import type { Reader } from "./field.ts";
import { headerText } from "./readers.ts";

export interface DashboardPort {
  readonly port: number;
  /** Whether another will do when this one is taken. */
  readonly orOther: boolean;
}

const USUAL_PORT = 8674;

export const dashboardPort: Reader<DashboardPort> = {
  placeholder: "PORT",
  expects: `a port from 1 to 65535, 0 for any that is free, or auto for ${USUAL_PORT} if it is free`,
  read(text) {
    if (text === "auto") return { port: USUAL_PORT, orOther: true };
    const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity;
    return port <= 65_535 ? { port, orOther: false } : undefined;
  },
};

export const dashboardHost: Reader<string> = {
  placeholder: "ADDRESS",
  expects: "an address or a name of this machine, such as 127.0.0.1, ::1 or 192.168.1.5",
  read: (text) => (/^[A-Za-z0-9.:-]{1,253}$/.test(text) ? text : undefined),
};

/** As many letters as 128 bits need in base 64. */
export const dashboardToken: Reader<string> = headerText(
  "TOKEN",
  "22 or more of the letters A-Z a-z 0-9 _ and -",
  /^[A-Za-z0-9_-]{22,}$/,
);
