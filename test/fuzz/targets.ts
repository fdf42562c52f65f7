/** All fuzz targets: everything that reads bytes from the web, from other processes, or from files of others. */

import { BUS, PAGES } from "./target-bus.ts";
import { COOKIES } from "./target-cookies.ts";
import { HTML } from "./target-html.ts";
import { HTTP } from "./target-http.ts";
import { ROBOTS } from "./target-robots.ts";
import { SETTINGS_FILE } from "./target-settings.ts";
import { SITEMAP } from "./target-sitemap.ts";
import type { Target } from "./target.ts";
import { URLS } from "./target-url.ts";
import { WARC } from "./target-warc.ts";

export const TARGETS: readonly Target[] = [
  HTML,
  ROBOTS,
  SITEMAP,
  URLS,
  COOKIES,
  HTTP,
  WARC,
  BUS,
  PAGES,
  SETTINGS_FILE,
];
