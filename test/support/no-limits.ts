import type { FailedKeys } from '../../src/domain/keys/failed-keys.ts';

/** For a key ring whose peers and store are not what a test is about: nobody is limited, and no wait ends by itself. */
export const NO_LIMITS: {
  readonly failures: FailedKeys;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
} = {
  failures: { admit() {}, count() {} },
  pause: (_ms, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('Stopped waiting.')));
    }),
};
