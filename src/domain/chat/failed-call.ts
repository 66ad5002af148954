/** A policy that applies to a call, and why, such as `team:sales`. */
export interface AppliedPolicy {
  readonly name: string;
  readonly via: string;
}

/** Facts of a failed call that its caller may see. */
export interface FailedCall {
  readonly callId: string;
  /** Timeout of the answer's head, in seconds. */
  readonly timeoutSeconds: number;
  /** Names of the guardrails of the call; absent when it has none. */
  readonly guardrails?: readonly string[];
  /** Policies of the call; absent when it has none. */
  readonly policies?: readonly AppliedPolicy[];
}

const calls = new WeakMap<object, FailedCall>();

/** Attaches a call to its failure, so that the transport can name the call in the answer. Null attaches nothing. */
export function attachFailedCall(failure: unknown, call: FailedCall | null): void {
  if (call !== null && typeof failure === 'object' && failure !== null) calls.set(failure, call);
}

/** The call of a failure; null for a failure before the call began. */
export function failedCallOf(failure: unknown): FailedCall | null {
  return typeof failure === 'object' && failure !== null ? (calls.get(failure) ?? null) : null;
}
