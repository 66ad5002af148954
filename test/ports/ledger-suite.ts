import { describe, expect, it } from 'vitest';
import {
  type ShareRequest,
  type Ledger,
  type LedgerKind,
  type ShareAnswer,
} from '../../src/domain/admission/ledger.ts';
import { MemoryLedger } from '../support/memory-ledger.ts';
import { randomFrom } from '../support/random.ts';

const anAsk = (more: Partial<ShareRequest>): ShareRequest => ({
  counter: 'a',
  kind: 'slots',
  limit: 10n,
  held: 0n,
  need: 0n,
  largest: 0n,
  atLimit: false,
  spare: 0n,
  stored: 0n,
  base: null,
  joins: false,
  window: null,
  ...more,
});

/** Number of steps of a random run. */
const STEPS = 300;

/** Contract of every Ledger. `prefix` is a counter prefix that no other run uses. */
export function ledgerSuite(
  name: string,
  open: () => Promise<{
    readonly ledger: Ledger;
    readonly prefix: string;
    /** Expires the lease of a process. */
    readonly expire: (process: string) => Promise<void>;
    readonly close: () => Promise<void>;
  }>,
): void {
  interface LedgerUnderTest {
    /** Ledger whose answers are reduced to shares. */
    readonly ledger: Pick<Ledger, 'snapshot'> & {
      readonly ask: (process: string, asks: readonly ShareRequest[]) => Promise<readonly ShareAnswer[]>;
    };
    readonly prefix: string;
    readonly expire: (process: string) => Promise<void>;
    readonly isNew: (process: string) => Promise<boolean>;
  }

  async function withLedger(run: (under: LedgerUnderTest) => Promise<void>): Promise<void> {
    const under = await open();
    const { ledger, prefix, expire } = under;
    try {
      await run({
        prefix,
        expire,
        ledger: {
          ask: async (process, asks) => (await ledger.requestShares(process, asks)).shares,
          snapshot: (process, counters) => ledger.snapshot(process, counters),
        },
        isNew: async (process) => (await ledger.requestShares(process, [])).isNew,
      });
    } finally {
      await under.close();
    }
  }

  describe(`Ledger ${name}`, () => {
    // The limit is 10 where a test sets no other. `left` is the remaining amount before the grant.
    it('grants the need of waiting calls, up to the remaining amount', () =>
      withLedger(async ({ ledger, prefix }) => {
        const counter = `${prefix}slots`;
        expect(await ledger.ask('p', [anAsk({ counter, need: 7n })])).toMatchObject([{ granted: 7n, left: 10n }]);
        expect(await ledger.ask('q', [anAsk({ counter, need: 7n })])).toMatchObject([{ granted: 3n, left: 3n }]);
        expect(await ledger.ask('q', [anAsk({ counter, held: 3n, need: 1n })])).toMatchObject([
          { granted: 0n, left: 0n },
        ]);
        // `p` returns 5 of its 7 slots.
        expect(await ledger.ask('p', [anAsk({ counter, held: 2n })])).toMatchObject([{ granted: 0n, left: 5n }]);
        expect(await ledger.ask('q', [anAsk({ counter, held: 3n, need: 1n })])).toMatchObject([
          { granted: 1n, left: 5n },
        ]);
      }));

    it('frees the slots of a process whose lease has ended', () =>
      withLedger(async ({ ledger, prefix, expire }) => {
        const counter = `${prefix}slots`;
        await ledger.ask('p', [anAsk({ counter, need: 10n })]);
        expect(await ledger.ask('q', [anAsk({ counter, need: 1n })])).toMatchObject([{ granted: 0n }]);
        await expire('p');
        expect(await ledger.ask('q', [anAsk({ counter, need: 1n })])).toMatchObject([{ granted: 1n, left: 10n }]);
      }));

    it('reports whether a process is new to it', () =>
      withLedger(async ({ isNew, expire }) => {
        expect([await isNew('p'), await isNew('p')]).toEqual([true, false]);
        await expire('p');
        expect([await isNew('p'), await isNew('p')]).toEqual([true, false]);
      }));

    it('keeps the window use and the stored spend of a process whose lease has ended', () =>
      withLedger(async ({ ledger, prefix, expire }) => {
        const window = anAsk({ counter: `${prefix}w`, kind: 'window' });
        const spend = anAsk({ counter: `${prefix}s`, kind: 'spend' });
        await ledger.ask('p', [{ ...window, need: 6n }]);
        await ledger.ask('p', [{ ...spend, held: 4n, stored: 0n, need: 3n, base: { value: 2n, version: 0 } }]);
        await ledger.ask('p', [{ ...spend, held: 7n, stored: 3n }]);
        await expire('p');
        // 10, minus the 6 that `p` used in the window.
        expect(await ledger.ask('q', [{ ...window, need: 9n }])).toMatchObject([{ granted: 4n, left: 4n }]);
        // 10, minus the base 2 and the 3 that `p` stored.
        expect(await ledger.ask('q', [{ ...spend, need: 1n }])).toMatchObject([{ known: true, granted: 1n, left: 5n }]);
      }));

    it('keeps the share in an open window when the request names no window', () =>
      withLedger(async ({ ledger, prefix }) => {
        const window = anAsk({ counter: `${prefix}w`, kind: 'window', need: 4n });
        const [first] = await ledger.ask('p', [window]);
        expect(await ledger.ask('p', [window])).toMatchObject([{ granted: 4n, left: 6n, window: first?.window }]);
        // An amount that is held in another window does not count.
        expect(await ledger.ask('p', [{ ...window, held: 9n, window: 1 }])).toMatchObject([{ granted: 4n, left: 10n }]);
      }));

    it('needs the stored total of a budget, and ignores a total of an outdated version', () =>
      withLedger(async ({ ledger, prefix }) => {
        const spend = anAsk({ counter: `${prefix}s`, kind: 'spend', need: 1n, largest: 1n });
        expect(await ledger.snapshot('p', [spend.counter])).toEqual([{ version: 0, stored: 0n }]);
        expect(await ledger.ask('p', [spend])).toMatchObject([{ known: false, granted: 0n }]);
        expect(await ledger.ask('p', [{ ...spend, base: { value: 5n, version: 0 } }])).toMatchObject([
          { known: true, left: 5n },
        ]);
        const later = { ...spend, held: 1n, base: { value: 0n, version: 0 } };
        // The base 5 stays, because the counter has version 1 since `p` joined.
        expect(await ledger.ask('p', [later])).toMatchObject([{ known: true, left: 4n }]);
        expect(await ledger.ask('p', [{ ...later, base: { value: 0n, version: 1 } }])).toMatchObject([{ left: 9n }]);
        // Not known: a process that stored an amount before it joins must send a base that contains it.
        expect(await ledger.ask('q', [{ ...spend, stored: 2n, held: 2n }])).toMatchObject([{ known: false }]);
        expect(await ledger.ask('q', [spend])).toMatchObject([{ known: true }]);
        // Version 2, because `q` has joined.
        expect(await ledger.snapshot('p', [spend.counter])).toEqual([{ version: 2, stored: 0n }]);
      }));

    it('admits one call that is larger than the remaining budget', () =>
      withLedger(async ({ ledger, prefix }) => {
        const spend = anAsk({ counter: `${prefix}s`, kind: 'spend', base: { value: 8n, version: 0 } });
        // 2 are left, so only the largest waiting call is admitted.
        expect(await ledger.ask('p', [{ ...spend, need: 50n, largest: 20n }])).toMatchObject([
          { granted: 20n, left: 2n },
        ]);
        expect(await ledger.ask('q', [{ ...spend, need: 1n, largest: 1n }])).toMatchObject([
          { granted: 0n, left: -18n },
        ]);
      }));

    it('keeps less in reserve with more processes', () =>
      withLedger(async ({ ledger, prefix }) => {
        const counter = `${prefix}slots`;
        const ask = anAsk({ counter, limit: 101n, need: 1n, spare: 1_000n });
        // The need, and half of the rest for a process alone.
        expect(await ledger.ask('p', [ask])).toMatchObject([{ granted: 51n }]);
        await ledger.ask('q', []);
        // The need, and a sixteenth of the rest for one of two processes.
        expect(await ledger.ask('p', [ask])).toMatchObject([{ granted: 7n }]);
      }));

    it('answers many requests in their order', () =>
      withLedger(async ({ ledger, prefix }) => {
        // 7 and 200 have no common factor: each counter occurs once, in an order unlike that of its name.
        const asks = Array.from({ length: 200 }, (_, number) =>
          anAsk({ counter: `${prefix}${(number * 7) % 200}`, need: BigInt(number), limit: 1_000n }),
        );
        const granted = (await ledger.ask('p', asks)).map((share) => share.granted);
        expect(granted).toEqual(asks.map(({ need }) => need));
      }));

    it.each([
      ['a NUL', '\0'],
      ['a lone surrogate', '\ud800'],
      ['a quote', `'"\\`],
    ])('accepts names of counters with %s', (_what, text) =>
      withLedger(async ({ ledger, prefix }) => {
        const spend = anAsk({ counter: `${prefix}${text}`, kind: 'spend', base: { value: 8n, version: 0 } });
        const other = anAsk({ counter: `${prefix}other` });
        expect(await ledger.ask('p', [spend, other])).toMatchObject([{ known: true, left: 2n }, { left: 10n }]);
        expect(await ledger.ask('p', [{ ...spend, stored: 1n, held: 1n, base: null }])).toMatchObject([
          { known: true },
        ]);
        expect(await ledger.snapshot('q', [spend.counter])).toEqual([{ version: 1, stored: 1n }]);
      }),
    );

    it.each(Array.from({ length: 10 }, (_, seed) => [seed + 1]))(
      'answers as the ledger in memory does, seed %i',
      (seed) =>
        withLedger(async ({ ledger, prefix, expire }) => {
          const random = randomFrom(seed);
          const model = new MemoryLedger();
          const kinds: readonly LedgerKind[] = ['spend', 'window', 'slots'];
          /** Latest window of each counter, by the clock of the ledger under test. */
          const windows = new Map<string, number>();
          for (let step = 0; step < STEPS; step += 1) {
            const process = `${seed}:${'pqr'[random(3)]}`;
            if (random(40) === 0) {
              await expire(process);
              await model.leave(process);
              continue;
            }
            const counters = kinds
              .filter(() => random(2) === 0)
              .map((kind) => [kind, `${prefix}${kind}${random(2)}`] as const);
            const spends = counters.filter(([kind]) => kind === 'spend').map(([, counter]) => counter);
            const before = await model.snapshot(process, spends);
            expect(await ledger.snapshot(process, spends)).toEqual(before);
            const asks = counters.map(([kind, counter]) => {
              const need = BigInt(random(5));
              const stored = kind === 'spend' ? BigInt(random(4)) : 0n;
              const base = { value: BigInt(random(30)), version: before[0]?.version ?? 0 };
              return anAsk({
                counter,
                kind,
                limit: BigInt(20 + random(80)),
                held: stored + BigInt(random(9)),
                need,
                largest: need,
                atLimit: random(2) === 0,
                spare: BigInt(random(20)),
                stored,
                base: kind === 'spend' && random(2) === 0 ? base : null,
                joins: random(8) === 0,
                window: kind === 'window' && random(3) > 0 ? (windows.get(counter) ?? null) : null,
              });
            });
            const answers = await ledger.ask(process, asks);
            // The model has its own clock, which stands still: its only window begins at `nowMs`.
            const { shares: expected } = await model.requestShares(
              process,
              asks.map((ask) => (ask.window === null ? ask : { ...ask, window: model.nowMs })),
            );
            for (const [index, { counter, kind }] of asks.entries()) {
              const { known, granted, left, window } = answers[index] ?? { window: 0 };
              expect({ known, granted, left }).toEqual({
                known: expected[index]?.known,
                granted: expected[index]?.granted,
                left: expected[index]?.left,
              });
              if (kind === 'window') windows.set(counter, window);
            }
          }
          for (const letter of 'pqr') await expire(`${seed}:${letter}`);
        }),
    );
  });
}
