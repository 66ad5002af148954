import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Stores } from '../../src/persistence/stores.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';

const SOON = { timeout: 60_000, interval: 20 };

describe.each(ENGINES)('messages between processes ($name)', (engine) => {
  describe.skipIf(engine.skipReason !== null)('over one database', () => {
    let scratch: ScratchDatabase;
    const warnings: string[] = [];
    const log = { warn: (_facts: object, event: string) => void warnings.push(event) };
    beforeAll(async () => {
      scratch = await engine.create();
    });
    afterAll(() => scratch.remove());

    function startListening({ processMessages }: Stores) {
      const messages: string[] = [];
      const listener = processMessages?.listen({
        message: (text) => void messages.push(text),
        joined: () => void messages.push('joined'),
      });
      return { messages, stop: () => listener?.stop() };
    }

    it.skipIf(engine.name !== 'postgresql')('reach every process until it stops', async () => {
      const [first, second] = [await scratch.open({ log }), await scratch.open({ log })];
      const [here, there] = [startListening(first), startListening(second)];
      await vi.waitFor(() => expect([here.messages, there.messages]).toEqual([['joined'], ['joined']]), SOON);
      await first.processMessages?.send("it's");
      await vi.waitFor(() => expect([here.messages[1], there.messages[1]]).toEqual(["it's", "it's"]), SOON);
      await there.stop();
      // The longest message that may be sent.
      await second.processMessages?.send('x'.repeat(7_500));
      await vi.waitFor(() => expect(here.messages[2]).toHaveLength(7_500), SOON);
      expect(there.messages).toHaveLength(2);
      await here.stop();
      await Promise.all([first.close(), second.close()]);
      expect(warnings).toEqual([]);
    });

    it.skipIf(engine.name !== 'postgresql')('continue after the server ended the connection', async () => {
      const stores = await scratch.open({ log });
      const { orm } = await scratch.openBare();
      const { messages, stop } = startListening(stores);
      await vi.waitFor(() => expect(messages).toEqual(['joined']), SOON);
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query = 'listen lensgate'
      `.execute(orm.em.fork().getKysely());
      await vi.waitFor(() => expect(messages).toEqual(['joined', 'joined']), SOON);
      await stores.processMessages?.send('again');
      await vi.waitFor(() => expect(messages[2]).toBe('again'), SOON);
      expect(warnings.filter((event) => event.startsWith('Changes of other processes'))).toHaveLength(1);
      await stop();
      await stores.close();
    });

    it.skipIf(engine.name === 'postgresql')('do not exist on SQLite, which one process uses at a time', async () => {
      const stores = await scratch.open({ log });
      expect(stores.processMessages).toBeNull();
      await stores.close();
    });
  });
});
