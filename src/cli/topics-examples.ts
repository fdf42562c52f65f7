/** Reads pages with topics into memory for training. */

import { Bag } from "../topics/bag.ts";
import { TERMS_MIN } from "../topics/classify.ts";
import { Examples } from "../topics/examples.ts";
import { Tokens } from "../topics/tokens.ts";
import { type FieldNames, type LineTally, readLabelledPages } from "./labelled-pages.ts";

export interface Gathered {
  readonly examples: Examples;
  readonly tally: LineTally;
  /** Pages of fewer than 50 terms, which are not used for training. */
  readonly small: number;
}

/** Examples in the order of their lines, without the small ones. */
export async function gatherExamples(
  files: readonly string[],
  names: FieldNames,
): Promise<Gathered> {
  const examples = new Examples();
  const tokens = new Tokens();
  const bag = new Bag();
  let small = 0;
  const tally = await readLabelledPages(files, names, ({ topic, kind, body }) => {
    if (kind === "html") tokens.takeHtml(body);
    else tokens.takeText(body);
    if (tokens.count < TERMS_MIN) small += 1;
    else {
      bag.take(tokens);
      examples.add(examples.topicNamed(topic), bag);
    }
  });
  examples.sortTopics();
  return { examples, tally, small };
}
