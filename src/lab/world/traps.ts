/**
 * Generates crawler traps: finite text on an infinite set of paths.
 *
 * - `calendar`: every month links to the next and the previous month (P1 of the catalogue);
 * - `maze`: a folder links into itself with ever longer paths (P2, P3);
 * - `session`: four pages whose links carry a new session number at every view (P4).
 */

import { hashAt } from "./dice.ts";
import type { World } from "./plan.ts";
import type { Site, Trap } from "./site.ts";

const PURPOSE_SESSION = 9;
const SESSION_PAGES = 4;
const MAZE_TURNS = ["left", "right"];

/** The link to the trap on the home page of a site with one. */
export function trapEntrance(site: Site): string {
  if (site.trap === undefined) return "";
  const first: Readonly<Record<Trap, string>> = {
    calendar: "/calendar/2026-01",
    maze: "/maze/left/",
    session: "/session/view-1?sid=0",
  };
  return `<p><a href="${first[site.trap]}">More</a></p>\n`;
}

/** The page of the site's trap at this path; undefined when the path is outside the trap. */
export function trapHtml(world: World, site: Site, path: string): string | undefined {
  if (site.trap === "calendar") return calendarHtml(path);
  if (site.trap === "maze") return mazeHtml(path);
  if (site.trap === "session") return sessionHtml(world, site, path);
  return undefined;
}

function calendarHtml(path: string): string | undefined {
  const match = /^\/calendar\/(\d{1,6})-(\d\d)$/.exec(path);
  if (match === null) return undefined;
  const months = Number(match[1]) * 12 + Number(match[2]) - 1;
  const links = `<a href="${monthPath(Math.max(0, months - 1))}">before</a> <a href="${monthPath(months + 1)}">next</a>`;
  return simple(`Events of ${path.slice(10)}`, `Nothing happens this month. ${links}`);
}

function monthPath(months: number): string {
  return `/calendar/${Math.floor(months / 12)}-${String((months % 12) + 1).padStart(2, "0")}`;
}

function mazeHtml(path: string): string | undefined {
  if (!/^\/maze(?:\/(?:left|right))*\/$/.test(path)) return undefined;
  const links = MAZE_TURNS.map((turn) => `<a href="${turn}/">go ${turn}</a>`).join(" ");
  return simple(`Turn ${path.split("/").length}`, `You are where you were. ${links}`);
}

function sessionHtml(world: World, site: Site, path: string): string | undefined {
  const match = /^\/session\/view-([1-9])\?sid=(\w{1,16})$/.exec(path);
  if (match === null) return undefined;
  const sid = Number.parseInt(match[2] ?? "", 36) >>> 0;
  let links = "";
  for (let view = 1; view <= SESSION_PAGES; view++) {
    const fresh = hashAt(world.plan.seed ^ sid, site.index, view, PURPOSE_SESSION).toString(36);
    links += `<a href="/session/view-${view}?sid=${fresh}">view ${view}</a> `;
  }
  return simple(`View ${match[1]}`, `Welcome, guest. ${links}`);
}

function simple(title: string, text: string): string {
  return `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${title}</title></head>\n<body><h1>${title}</h1><p>${text}</p></body></html>\n`;
}
