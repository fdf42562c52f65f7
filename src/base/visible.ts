/**
 * Makes untrusted text safe to show: a page title must not be able to move the cursor, colour the
 * terminal, forge a second line or reverse the reading direction. Every character that a terminal might obey is
 * replaced by its code, so one record stays one line. URLs lose user names and passwords.
 */

// C0 (with tab and newline), DEL, C1, lone surrogates, soft hyphen, zero-width and bidi controls, BOM.
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Surrogate}/gu;

/** User name and password of a URL within a text: from `//` to the last `@` of the authority. */
const CREDENTIALS = /([/\\]{2})[^\s/\\?#]*@/g;

export function hideCredentials(text: string): string {
  return text.includes("@") ? text.replace(CREDENTIALS, "$1") : text;
}

export function visible(foreign: string, charactersMax = 512): string {
  // Credentials are removed before the text is cut: the cut could remove the `@` that marks them.
  const text = hideCredentials(foreign);
  const cut = text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
  return cut.replace(UNSEEN, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
}
