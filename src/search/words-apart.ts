/**
 * Separates the characters of Chinese and Japanese, which are written without spaces between words.
 *
 * FTS5's tokenizer treats an unbroken run of letters as one word. With a zero-width space around each
 * character, every character is a word and several in a row are a phrase, so any part of such a text can be
 * found. Queries are treated alike, and the spaces are removed from passages that are shown.
 */

const APART = "\u200b";
const UNSPACED = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{323af}]/gu;

export function wordsApart(text: string): string {
  return text.replace(UNSPACED, `${APART}$&${APART}`);
}

export function withoutGaps(text: string): string {
  return text.replaceAll(APART, "");
}
