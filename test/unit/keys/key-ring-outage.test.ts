import { describe, expect, it } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import { aKey } from '../../support/chat.ts';
import { aRing, BLOCKED, HASH, identified, KEY, OUTAGE_MS, STALE_MS } from '../../support/key-ring.ts';

describe('while the store is unavailable', () => {
  it('a cached key is accepted for one minute after its last store read; then calls fail with Unavailable', async () => {
    const { ring, state } = aRing();
    await ring.identify(KEY);
    state.isUnavailable = true;
    for (const nowMs of [STALE_MS, 30_000, OUTAGE_MS]) {
      state.nowMs = nowMs;
      expect(await identified(ring, KEY)).toMatchObject({ keyHash: HASH });
    }
    state.nowMs = OUTAGE_MS + 1;
    expect(await identified(ring, KEY)).toBeInstanceOf(Unavailable);
    state.isUnavailable = false;
    expect(await identified(ring, KEY)).toMatchObject({ keyHash: HASH });
  });

  it('a failed read is not repeated by the next calls for five seconds', async () => {
    const { ring, state } = aRing();
    await ring.identify(KEY);
    state.isUnavailable = true;
    state.nowMs = STALE_MS;
    await ring.identify(KEY);
    expect(state.finds).toBe(2);
    for (const nowMs of [STALE_MS, STALE_MS + 4_999]) {
      state.nowMs = nowMs;
      expect(ring.identify(KEY)).toMatchObject({ keyHash: HASH });
    }
    state.nowMs = STALE_MS + 5_000;
    await ring.identify(KEY);
    expect(state.finds).toBe(3);
  });

  it('a refresh that fails keeps the keys, and the next refresh reads them again', async () => {
    const { ring, state, stored } = aRing();
    await ring.identify(KEY);
    state.isUnavailable = true;
    await ring.refresh();
    expect(ring.identify(KEY)).toMatchObject({ keyHash: HASH });
    state.isUnavailable = false;
    stored.set(HASH, aKey({ hash: HASH, blocked: true }));
    await ring.refresh();
    expect(await identified(ring, KEY)).toEqual(BLOCKED);
  });

  it('an unknown key is refused as unavailable', async () => {
    const { ring, state } = aRing();
    state.isUnavailable = true;
    expect(await identified(ring, KEY)).toBeInstanceOf(Unavailable);
  });

  it('a read without an answer fails at its deadline: a known key is used, an unknown key is refused', async () => {
    const { ring, state, pending } = aRing();
    await ring.identify(KEY);
    state.nowMs = STALE_MS;
    // Reads of the store wait in the first list, and their deadlines in the second.
    pending.reads = [];
    pending.deadlines = [];
    const [known, unknown] = [identified(ring, KEY), identified(ring, 'sk-never-seen-before-90')];
    await expect.poll(() => pending.deadlines.length).toBe(2);
    for (const expire of pending.deadlines) expire();
    expect(await known).toMatchObject({ keyHash: HASH });
    expect(await unknown).toBeInstanceOf(Unavailable);
  });
});
