import { DomainError } from '../../src/domain/errors.ts';
import type { BackgroundScope } from './object-calls.ts';

/**
 * A scope whose calls continue after its client has left, for a new object that is charged later. Without its row, the
 * cost of the object would not be recorded. A shutdown ends the calls. Throws the reason of the signal when the client
 * has left already.
 */
export function lastingScope<Of extends BackgroundScope>(scope: Of): Of {
  const { signal } = scope;
  signal.throwIfAborted();
  const lasting = new AbortController();
  const end = (): void => {
    // A DomainError as the reason means that the gateway ended the call.
    if (signal.reason instanceof DomainError) lasting.abort(signal.reason);
  };
  signal.addEventListener('abort', end, { once: true });
  return { ...scope, signal: lasting.signal };
}
