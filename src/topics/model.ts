/**
 * A trained classifier as one file: its method, its topics, the weights of each term, and a digest that shows
 * whether processes use the same model.
 *
 *   weir-topics 1 <SHA-256 of the rest of the file, in hexadecimal>
 *   {"method":…,"topics":[…],"rows":…,"bias":[…],…}
 *   keys (int32), then, where the method has it, rarity (float32), then weights; all little-endian, by row
 *
 * Weights are integers of one byte with a scale (float32) for each row; the steps of 1/127 have no measurable
 * effect. Lewis's weights, whose logarithm is taken, are float32. So a model of 15 topics takes 27 bytes
 * for each term. Reading one costs a few milliseconds; an invalid file gives a reason, never an exception.
 */

import { digestOf } from "../page/digest.ts";
import type { Calibration } from "./calibration.ts";
import { METHOD_NAMES, type MethodName } from "./methods.ts";
import { TermTable } from "./term-table.ts";
import type { Trained } from "./trained.ts";

const MODEL_VERSION = 1;
const NAME = "weir-topics";
/** Maximum length of the line with the digest, in bytes. */
const FIRST_LINE_MAX = 128;
/** Maximum length of the line with the topics, in bytes. */
const HEADER_MAX = 1_000_000;
const ROWS_MAX = 10_000_000;
const NEWLINE = 0x0a;
const STEPS = 127;

export interface Model {
  readonly method: MethodName;
  readonly trained: Trained;
  readonly calibration: Calibration;
  /** Number of training pages of each topic. */
  readonly trainedOn: readonly number[];
}

export interface LoadedModel extends Model {
  /** SHA-256 of the file's content: processes with equal digests classify alike. */
  readonly digest: string;
}

type ModelReading =
  | { readonly kind: "model"; readonly model: LoadedModel }
  | { readonly kind: "refused"; readonly why: string };

interface Header {
  readonly method: MethodName;
  readonly topics: readonly string[];
  readonly rows: number;
  readonly hasRarity: boolean;
  readonly slope: number;
  readonly lengthPower: number;
  readonly trainedOn: readonly number[];
  readonly bias: readonly number[];
}

export function encodeModel({ method, trained, calibration, trainedOn }: Model): Uint8Array {
  const { topics, table, weights, rarity, bias } = trained;
  const header: Header = {
    method,
    topics,
    rows: table.size,
    hasRarity: rarity.length > 0,
    slope: calibration.slope,
    lengthPower: calibration.lengthPower,
    trainedOn,
    bias: [...bias],
  };
  const text = new TextEncoder().encode(`${JSON.stringify(header)}\n`);
  const content = joined([
    text,
    bytesOf(table.keys()),
    bytesOf(rarity),
    ...(isQuantised(method) ? quantised(weights, topics.length) : [bytesOf(weights)]),
  ]);
  const first = `${NAME} ${MODEL_VERSION} ${hexOf(digestOf(content))}\n`;
  return joined([new TextEncoder().encode(first), content]);
}

export function decodeModel(file: Uint8Array): ModelReading {
  const firstEnd = file.subarray(0, FIRST_LINE_MAX).indexOf(NEWLINE);
  const first = firstEnd < 0 ? "" : textOf(file, 0, firstEnd);
  const [name, version, digest] = first.split(" ");
  if (name !== NAME || version === undefined) return refused("it is not a topic model of Weir");
  if (version !== String(MODEL_VERSION))
    return refused(
      `it is a topic model of version ${version.slice(0, 20)}, and this Weir reads version ${MODEL_VERSION}: train it again with this Weir`,
    );
  const content = file.subarray(firstEnd + 1);
  if (digest === undefined || hexOf(digestOf(content)) !== digest)
    return refused("its digest does not match its content: it is damaged or truncated");
  const headerEnd = content.subarray(0, HEADER_MAX).indexOf(NEWLINE);
  const header = readHeader(headerEnd < 0 ? "" : textOf(content, 0, headerEnd));
  if (header === undefined) return refused("its header is invalid");
  const body = content.subarray(headerEnd + 1);
  if (body.length !== bodyBytes(header)) return refused("its length does not match its header");
  return { kind: "model", model: { ...modelOf(header, body), digest } };
}

function modelOf(header: Header, body: Uint8Array): Model {
  const { topics, rows, hasRarity, method } = header;
  // A typed array of numbers must begin at a multiple of four, which a copy does (`slice` of a Buffer does not copy).
  const aligned = new Uint8Array(body).buffer;
  const keys = new Int32Array(aligned, 0, rows);
  const rarity = hasRarity ? new Float32Array(aligned, 4 * rows, rows) : new Float32Array(0);
  const at = 4 * rows + 4 * rarity.length;
  const weights = isQuantised(method)
    ? restored(new Float32Array(aligned, at, rows), new Int8Array(aligned, at + 4 * rows))
    : new Float32Array(aligned, at);
  return {
    method,
    trained: {
      topics,
      table: TermTable.of(keys),
      weights,
      rarity,
      bias: Float32Array.from(header.bias),
    },
    calibration: { slope: header.slope, lengthPower: header.lengthPower },
    trainedOn: header.trainedOn,
  };
}

/** The header, or undefined if a field is missing or invalid: another program may have written the file. */
function readHeader(text: string): Header | undefined {
  let read: Partial<Record<keyof Header, unknown>>;
  try {
    read = JSON.parse(text) as Partial<Record<keyof Header, unknown>>;
  } catch {
    return undefined;
  }
  if (typeof read !== "object" || read === null) return undefined;
  const { method, topics, rows, hasRarity, slope, lengthPower, trainedOn, bias } = read;
  const isWhole =
    METHOD_NAMES.some((name) => name === method) &&
    isListOf(topics, "string") &&
    topics.length >= 2 &&
    Number.isInteger(rows) &&
    (rows as number) >= 0 &&
    (rows as number) <= ROWS_MAX &&
    typeof hasRarity === "boolean" &&
    typeof slope === "number" &&
    typeof lengthPower === "number" &&
    isListOf(trainedOn, "number") &&
    isListOf(bias, "number") &&
    bias.length === topics.length;
  return isWhole ? (read as unknown as Header) : undefined;
}

function isListOf(value: unknown, kind: "string" | "number"): value is unknown[] {
  return Array.isArray(value) && value.every((item) => typeof item === kind);
}

function isQuantised(method: MethodName): boolean {
  return method !== "lewis";
}

function bodyBytes({ rows, hasRarity, topics, method }: Header): number {
  const each =
    4 + (hasRarity ? 4 : 0) + (isQuantised(method) ? 4 + topics.length : 4 * topics.length);
  return rows * each;
}

/** For each row its largest weight as a scale, and all weights as multiples of 1/127 of it. */
function quantised(weights: Float32Array, width: number): [scales: Uint8Array, steps: Uint8Array] {
  const rows = weights.length / width;
  const scales = new Float32Array(rows);
  const steps = new Int8Array(weights.length);
  for (let row = 0; row < rows; row++) {
    let most = 0;
    for (let at = row * width; at < (row + 1) * width; at++)
      most = Math.max(most, Math.abs(weights[at] as number));
    scales[row] = most / STEPS;
    const scale = scales[row] as number;
    for (let at = row * width; at < (row + 1) * width; at++)
      steps[at] = scale === 0 ? 0 : Math.round((weights[at] as number) / scale);
  }
  return [bytesOf(scales), bytesOf(steps)];
}

/** The inverse of `quantised`. */
function restored(scales: Float32Array, steps: Int8Array): Float32Array {
  const width = scales.length === 0 ? 1 : steps.length / scales.length;
  const weights = new Float32Array(steps.length);
  for (let row = 0; row < scales.length; row++) {
    const scale = scales[row] as number;
    for (let at = row * width; at < (row + 1) * width; at++)
      weights[at] = scale * (steps[at] as number);
  }
  return weights;
}

function refused(why: string): ModelReading {
  return { kind: "refused", why };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function bytesOf(numbers: Int32Array | Float32Array | Int8Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return new TextDecoder().decode(bytes.subarray(start, end));
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
