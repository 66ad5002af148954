/** What a failure may tell of the call it ended. */
export interface FailedCall {
  readonly callId: string;
  /** Seconds the deployment was given to begin its answer. */
  readonly timeoutSeconds: number;
}

const calls = new WeakMap<object, FailedCall>();

/** Remembers which call a failure ended, so that the door that answers it can tell the caller. */
export function rememberCall(failure: unknown, call: FailedCall): void {
  if (typeof failure === 'object' && failure !== null) calls.set(failure, call);
}

/** The call a failure ended; null when it never became one. */
export function failedCallOf(failure: unknown): FailedCall | null {
  return typeof failure === 'object' && failure !== null ? (calls.get(failure) ?? null) : null;
}
