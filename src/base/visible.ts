/**
 * Makes foreign text safe to show: a page title must not be able to move the cursor, colour the
 * terminal, forge a second line or turn the reading direction. Whatever a terminal might obey is
 * shown as its code instead; one record stays one line.
 */

// C0 (with tab and newline), DEL, C1, lone surrogates, soft hyphen, zero-width and bidi controls, BOM.
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Surrogate}/gu;

export function visible(text: string, charactersMax = 512): string {
  const cut = text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
  return cut.replace(UNSEEN, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
}
