import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RoutingDecision } from '../../src/domain/auto-routers/routing-decision.ts';
import type { Usd } from '../../src/domain/money.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aSpendRow } from './samples.ts';

const DECISION: RoutingDecision = {
  router: 'smart',
  routerId: 'r-1',
  classifier: 'llm',
  tier: 'SIMPLE',
  model: 'small',
  cause: 'llm_classifier',
  signals: ['llm:SIMPLE'],
  probability: 0.5,
  startedAt: 1_700_000_000_000,
  durationMs: 1.5,
};

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`auto routers on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    /** Stores of another process on PostgreSQL; otherwise `stores`. */
    let others: Stores;
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
      // Only one process can open a SQLite file.
      others = engine.name === 'postgresql' ? await scratch.open() : stores;
    });
    afterAll(async () => {
      await stores.close();
      if (others !== stores) await others.close();
      await scratch.remove();
    });

    it('store decisions of calls, and count calls by router, tier, cause and model', async () => {
      const startedAt = new Date(1_700_000_000_000);
      const row = (id: string, more: object) => aSpendRow({ id, callId: id, startedAt, cost: 7n as Usd, ...more });
      await stores.spend.append([
        row('c1', { routing: DECISION }),
        row('c2', { routing: DECISION, status: 'failure', error: { code: 'X', message: 'x' }, cost: null }),
        row('c3', { routing: { ...DECISION, tier: null, cause: 'llm_classifier_fallback', model: 'spare' } }),
        row('c4', { routing: DECISION, startedAt: new Date(startedAt.getTime() + 1_000) }),
        row('c5', {}),
      ]);
      const { traceId, spanId } = aSpendRow();
      const found = await stores.spend.findBySpans([`${traceId}:${spanId}`]);
      expect(found.find(({ id }) => id === 'c1')?.routing).toEqual(DECISION);
      expect(found.find(({ id }) => id === 'c5')).not.toHaveProperty('routing');
      const period = { fromMs: startedAt.getTime(), toMs: startedAt.getTime() + 1_000 };
      const router = { routerId: 'r-1', router: 'smart' };
      const expected = [
        { ...router, tier: 'SIMPLE', cause: 'llm_classifier', model: 'small', calls: 2, failures: 1, cost: 7n },
        { ...router, tier: null, cause: 'llm_classifier_fallback', model: 'spare', calls: 1, failures: 0, cost: 7n },
      ];
      expect(await stores.autoRouters.routedCalls(period, 10)).toEqual(expected);
      expect(await stores.autoRouters.routedCalls(period, 1)).toEqual(expected.slice(0, 1));
      expect(await stores.autoRouters.routedCalls({ fromMs: 0, toMs: 1 }, 10)).toEqual([]);
    });

    it('run exclusive work of all processes one after another', async () => {
      const steps: string[] = [];
      const work = (name: string) => async () => {
        steps.push(`${name} begins`);
        await stores.ping();
        steps.push(`${name} ends`);
      };
      await Promise.all([stores.autoRouters.exclusively(work('a')), others.autoRouters.exclusively(work('b'))]);
      const first = steps[0]?.charAt(0);
      const second = first === 'a' ? 'b' : 'a';
      expect(steps).toEqual([`${first} begins`, `${first} ends`, `${second} begins`, `${second} ends`]);
    });
  });
