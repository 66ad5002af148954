import type { CallRecord } from '../domain/calls/call-record.ts';

/** Start of the newest call of the gateway. A span of a later period repeats no call of the gateway. */
export interface NewestStart {
  /** Takes a call into account. Calls are passed before they are stored. */
  recorded(call: CallRecord): void;
  /**
   * Unix ms; `-Infinity` without any call. `Infinity` where it is unknown: other processes record calls too, or the
   * store does not answer.
   */
  ms(): Promise<number>;
}

/** `readStored` reads the newest start from the store, once. Null where other processes write to that store. */
export function createNewestStart(readStored: (() => Promise<Date | null>) | null): NewestStart {
  let newest = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;
  const include = (start: Date | null): void => {
    newest = Math.max(newest, start?.getTime() ?? Number.NEGATIVE_INFINITY);
  };
  return {
    recorded: ({ spend }) => include(spend.startedAt),
    async ms() {
      if (readStored === null) return Number.POSITIVE_INFINITY;
      reading ??= readStored().then(include);
      try {
        await reading;
      } catch {
        reading = null;
        return Number.POSITIVE_INFINITY;
      }
      return newest;
    },
  };
}
