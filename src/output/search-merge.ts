/**
 * Makes one segment of several that follow each other, and leaves out the pages that are gone.
 *
 * Words come in the order of their names in each, so one walk over all of them is enough; positions
 * are copied as they are. In memory, some 5 µs a page: who merges decides how much that may be.
 */

import { ENTRY_BYTES, type Segment, SegmentWriter } from "./search-segment.ts";

/** Where a walk over the words of one segment is. */
interface Walk {
  readonly segment: Segment;
  readonly entries: Uint32Array;
  readonly base: number;
  readonly placesAt: number;
  term: number;
  lettersAt: number;
}

/** In the order of their pages; a page whose id is 0 is gone. */
export function mergedSegment(segments: readonly Segment[]): Segment {
  const firstDoc = segments[0]?.firstDoc ?? 0;
  const docs = new Uint32Array(segments.reduce((sum, segment) => sum + segment.docs.length, 0));
  for (const segment of segments) docs.set(segment.docs, 2 * (segment.firstDoc - firstDoc));
  const walks = segments.map((segment) => walkOver(segment, firstDoc));
  const writer = new SegmentWriter(
    segments.reduce((sum, { terms }) => sum + terms, 0),
    segments.reduce((sum, { letterBytes }) => sum + letterBytes, 0),
  );
  for (let first = firstOf(walks); first !== undefined; first = firstOf(walks)) {
    const [high = 0, low = 0] = nameAt(first);
    writer.begin(high, low);
    writer.letters(first.segment.bytes, first.lettersAt);
    for (const walk of walks) {
      if (walk.term >= walk.segment.terms) continue;
      const [ownHigh, ownLow] = nameAt(walk);
      if (ownHigh === high && ownLow === low) takePlaces(walk, docs, writer);
    }
  }
  return writer.finish(firstDoc, docs);
}

function walkOver(segment: Segment, firstDoc: number): Walk {
  const { bytes, terms, letterBytes } = segment;
  const dictionaryBytes = ENTRY_BYTES * terms;
  return {
    segment,
    entries: new Uint32Array(bytes.slice(0, dictionaryBytes).buffer),
    base: segment.firstDoc - firstDoc,
    placesAt: dictionaryBytes + letterBytes,
    term: 0,
    lettersAt: dictionaryBytes,
  };
}

function nameAt({ entries, term }: Walk): [high: number, low: number] {
  return [entries[3 * term] as number, entries[3 * term + 1] as number];
}

/** The walk that stands before the least name. */
function firstOf(walks: readonly Walk[]): Walk | undefined {
  let first: Walk | undefined;
  let [leastHigh, leastLow] = [Infinity, Infinity];
  for (const walk of walks) {
    if (walk.term >= walk.segment.terms) continue;
    const [high, low] = nameAt(walk);
    if (high > leastHigh || (high === leastHigh && low >= leastLow)) continue;
    [first, leastHigh, leastLow] = [walk, high, low];
  }
  return first;
}

/** Copies the places of the present word, but for pages that are gone, and goes on to the next. */
function takePlaces(walk: Walk, docs: Uint32Array, writer: SegmentWriter): void {
  const { segment, entries, base, placesAt, term } = walk;
  const { bytes } = segment;
  const start = placesAt + (entries[3 * term + 2] as number);
  const isLast = term + 1 === segment.terms;
  const end = isLast ? bytes.length : placesAt + (entries[3 * (term + 1) + 2] as number);
  // A number may take more bytes than it did, since the pages lie in a larger row.
  writer.room(2 * (end - start) + 8);
  let at = start;
  let doc = base - 1;
  const next = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] as number;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < end) {
    doc += next();
    const count = next();
    const from = at;
    for (let left = count; left > 0; at++) if ((bytes[at] as number) < 128) left -= 1;
    if (docs[2 * doc] === 0) continue;
    writer.doc(doc, count);
    writer.copy(bytes, from, at);
  }
  walk.lettersAt += 1 + (bytes[walk.lettersAt] as number);
  walk.term += 1;
}
