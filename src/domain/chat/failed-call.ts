const callIds = new WeakMap<object, string>();

/** Remembers under which call id a failure happened, so that the door that answers it can tell the caller. */
export function rememberCallId(failure: unknown, callId: string): void {
  if (typeof failure === 'object' && failure !== null) callIds.set(failure, callId);
}

/** The call id a failure happened under; null when it never became a call. */
export function callIdOf(failure: unknown): string | null {
  return typeof failure === 'object' && failure !== null ? (callIds.get(failure) ?? null) : null;
}
