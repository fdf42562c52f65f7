/**
 * The dashboard's settings on the command line, and the warning when it is open to other machines.
 */

import type { Resolved } from "../config/field.ts";
import type { SHOWING } from "../config/output.ts";
import type { DashboardWish } from "../dashboard/server.ts";

type Asked = Pick<Resolved<typeof SHOWING>, "dashboard" | "dashboardHost" | "dashboardToken"> & {
  readonly speedsFile: string | undefined;
};

/** undefined for no dashboard. */
export function dashboardWish(folder: string, asked: Asked): DashboardWish | undefined {
  const { dashboard, dashboardHost, dashboardToken, speedsFile } = asked;
  if (dashboard === undefined) return undefined;
  return {
    folder,
    speedsFile,
    address: dashboardHost,
    port: dashboard.port,
    orOtherPort: dashboard.orOther,
    token: dashboardToken,
  };
}

export function isOpenToOthers({ dashboardHost }: Pick<Asked, "dashboardHost">): boolean {
  return !/^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/i.test(dashboardHost);
}

export const OPEN_TO_OTHERS =
  "WARNING: the dashboard can be reached from other machines, without encryption. Anyone with its token can change the crawl.";
