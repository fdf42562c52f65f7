/** A promise found broken, by a rule's name and with what shows it. */

export interface Violation {
  readonly rule: string;
  readonly detail: string;
}
