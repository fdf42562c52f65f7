/** Requests to the server, and changes. All URLs are below the page's own. */

import type { ChangeAnswer } from "../shapes.ts";

type Query = Readonly<Record<string, string | number | boolean>>;

export class Refused extends Error {
  override readonly name = "Refused";
}

export async function ask<Answer>(path: string, query: Query = {}): Promise<Answer> {
  const words = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  );
  const tail = words.size === 0 ? "" : `?${words}`;
  const response = await fetch(`api/${path}${tail}`, { credentials: "same-origin" });
  if (!response.ok) throw new Refused(`${response.status} ${(await response.text()).trim()}`);
  return (await response.json()) as Answer;
}

export async function change(key: string, value: string): Promise<ChangeAnswer> {
  try {
    const response = await fetch("api/change", {
      method: "POST",
      credentials: "same-origin",
      headers: { "content-type": "application/json", "x-weir": "1" },
      body: JSON.stringify({ key, value }),
    });
    const text = await response.text();
    if (response.headers.get("content-type")?.startsWith("application/json") !== true)
      return { ok: false, message: text.trim() };
    return JSON.parse(text) as ChangeAnswer;
  } catch {
    return { ok: false, message: "The dashboard's server does not answer." };
  }
}
