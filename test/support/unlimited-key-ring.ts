import type { FailedKeys } from '../../src/domain/keys/failed-keys.ts';

/** Ports of a key ring without a limit of wrong keys. A pause ends only by its signal. */
export const UNLIMITED: {
  readonly failures: FailedKeys;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
} = {
  failures: { admit() {}, count() {} },
  pause: (_ms, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('Stopped waiting.')));
    }),
};
