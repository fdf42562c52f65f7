/** Readers of values: each has a range, and states it when it refuses a text. */

import { readBytes, readDurationMs, readRateBps, showBytes } from "../base/units.ts";
import { readAllowance } from "../fetch/address-guard.ts";
import { readProxy } from "../fetch/proxy.ts";
import type { Reader } from "./field.ts";

const MINUTE_MS = 60_000;

export interface Range {
  readonly least: number;
  readonly most: number;
}

export const onOff: Reader<boolean> = {
  placeholder: "",
  expects: "true or false",
  read: (text) => (text === "true" ? true : text === "false" ? false : undefined),
};

export function integer(range: Range): Reader<number> {
  return {
    placeholder: "N",
    expects: `a whole number from ${range.least} to ${range.most}`,
    read: (text) => (/^\d{1,15}$/.test(text) ? within(range, Number(text)) : undefined),
  };
}

/** A bare 0 needs no unit; other numbers do, because 5 could mean seconds or milliseconds. */
export function duration(rangeMs: Range): Reader<number> {
  return {
    placeholder: "DURATION",
    expects: `a duration from ${shortly(rangeMs.least)} to ${shortly(rangeMs.most)}, such as 500ms, 30s, 15m, 2h or 1d`,
    read: (text) => within(rangeMs, text === "0" ? 0 : readDurationMs(text)),
  };
}

export function minutes(range: Range): Reader<number> {
  return {
    placeholder: "DURATION",
    expects: `a duration from ${range.least}m to ${range.most}m, such as 90m or 2h`,
    read(text) {
      const value = (readDurationMs(text) ?? Number.NaN) / MINUTE_MS;
      return value >= range.least && value <= range.most ? value : undefined;
    },
  };
}

export function size(rangeBytes: Range): Reader<number> {
  return {
    placeholder: "SIZE",
    expects: `a size from ${showBytes(rangeBytes.least)} to ${showBytes(rangeBytes.most)}, such as 500KB or 8MiB`,
    read: (text) => whole(within(rangeBytes, readBytes(text))),
  };
}

export function decimal(range: Range): Reader<number> {
  return {
    placeholder: "N",
    expects: `a number from ${range.least} to ${range.most}`,
    read(text) {
      const value = /^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
      return value >= range.least && value <= range.most ? value : undefined;
    },
  };
}

export function rate(rangeBps: Range): Reader<number> {
  return {
    placeholder: "RATE",
    expects: `a rate from ${showBytes(rangeBps.least)}/s to ${showBytes(rangeBps.most)}/s, such as 1KiB/s, 2MB/s or 8Mbit/s`,
    read: (text) => within(rangeBps, text === "0" ? 0 : readRateBps(text)),
  };
}

export const share: Reader<number> = {
  placeholder: "SHARE",
  expects: "a share from 0% to 100%, such as 10%",
  read(text) {
    const match = /^(\d{1,3}(?:\.\d{1,4})?)\s*%$/.exec(text.trim());
    const value = Number(match?.[1] ?? Number.NaN) / 100;
    return value <= 1 ? value : undefined;
  },
};

export function oneOf<const Choice extends string>(choices: readonly Choice[]): Reader<Choice> {
  return {
    placeholder: choices.join("|"),
    expects: `one of ${choices.join(", ")}`,
    read: (text) => choices.find((choice) => choice === text),
  };
}

export function words(placeholder: string, expects: string): Reader<string> {
  return {
    placeholder,
    expects,
    read: (text) => (text.trim() === "" || text.length > 4096 ? undefined : text),
  };
}

/** Becomes part of a header, so it must be one line of plain ASCII. */
export function headerText(placeholder: string, expects: string, shape: RegExp): Reader<string> {
  return {
    placeholder,
    expects,
    read: (text) =>
      /^[\x20-\x7e]{1,256}$/.test(text) && shape.test(text.trim()) ? text.trim() : undefined,
  };
}

/** An IP address or range, with or without a port; the address guard parses it. */
export const addressRange: Reader<string> = {
  placeholder: "ADDRESSES",
  expects: "addresses or ranges, such as 127.0.0.0/8, 10.1.2.3:8080 or [::1]:8080",
  read: (text) => (readAllowance(text) === undefined ? undefined : text),
};

export const mediaType: Reader<string> = {
  placeholder: "TYPES",
  expects: "media types, such as text/html or text/*",
  read(text) {
    const type = text.toLowerCase();
    return /^[a-z0-9!#$&^_.+-]+\/([a-z0-9!#$&^_.+-]+|\*)$/.test(type) ? type : undefined;
  },
};

/** Credentials are allowed inside; that is why whatever holds it is marked secret. */
export const proxyUrl: Reader<string> = {
  placeholder: "URL",
  expects:
    "a proxy as http://host:port or socks5://host:port, with user:password@ before the host if it requires them",
  read: (text) => (readProxy(text) === undefined ? undefined : text),
};

function within(range: Range, value: number | undefined): number | undefined {
  return value !== undefined && value >= range.least && value <= range.most ? value : undefined;
}

function whole(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value);
}

function shortly(durationMs: number): string {
  const units = [
    ["d", 86400e3],
    ["h", 3600e3],
    ["m", 60e3],
    ["s", 1e3],
  ] as const;
  const [unit, unitMs] = units.find(([, ms]) => durationMs >= ms && durationMs % ms === 0) ?? [
    "ms",
    1,
  ];
  return `${durationMs / unitMs}${unit}`;
}
