/** A broken promise: the name of the rule and the evidence. */

export interface Violation {
  readonly rule: string;
  readonly detail: string;
}
