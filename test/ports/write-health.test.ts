import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Unavailable } from '../../src/domain/errors.ts';
import type { Database } from '../../src/persistence/database/database.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { createTraceStore } from '../../src/persistence/traces/store.ts';
import { aTracePacker } from '../support/trace-packer.ts';
import { anExport } from './an-export.ts';
import { ENGINES, type Engine, type ScratchDatabase } from './engines.ts';
import { A_CALL, TEAM_KEY, aKey, aSpendRow } from './samples.ts';
import { POLLING } from '../support/polling.ts';

const REFUSAL = new Unavailable('The database takes no writes.');
const bodies = aTracePacker();
/** Incompressible text, larger than the pages that a check of writes leaves free. */
const LARGE = randomBytes(150_000).toString('base64');

interface Fault {
  readonly name: string;
  readonly engines: readonly Engine['name'][];
  readonly begin: (database: Database) => Promise<unknown>;
  readonly end: (database: Database) => Promise<unknown>;
}

const execute =
  (...statements: readonly string[]) =>
  async ({ orm }: Database): Promise<void> => {
    for (const statement of statements) await orm.em.fork().execute(statement);
  };

const FAULTS: readonly Fault[] = [
  {
    name: 'the disk is full',
    engines: ['sqlite3', 'node:sqlite'],
    begin: execute('pragma max_page_count = 1'),
    end: execute('pragma max_page_count = 1000000'),
  },
  {
    name: 'the file is read-only',
    engines: ['sqlite3', 'node:sqlite'],
    begin: execute('pragma query_only = on'),
    end: execute('pragma query_only = off'),
  },
  {
    name: 'the server is read-only',
    engines: ['postgresql'],
    begin: execute('set default_transaction_read_only = on'),
    end: execute('set default_transaction_read_only = off'),
  },
];

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`the check whether ${engine.name} takes writes`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    beforeEach(async () => {
      scratch = await engine.create();
      stores = await scratch.open({ bodies, lockTimeoutMs: 50, log: { warn() {} } });
    });
    afterEach(() => scratch.remove());

    it('succeeds for stores without a write, and leaves no row', async () => {
      await stores.writable();
      expect([stores.failedWrites(), await scratch.storedBodies()]).toEqual([0, []]);
    });

    it('fails while another connection has the lock, and succeeds afterwards without another write', async () => {
      await stores.keys.add(aKey());
      const release = await scratch.holdWriters();
      await expect(stores.traces.ingestExport(TEAM_KEY, anExport(1, 'held up'))).rejects.toThrow(Unavailable);
      await expect(stores.writable()).rejects.toEqual(REFUSAL);
      expect(stores.failedWrites()).toBe(1);
      await release();
      await vi.waitFor(() => stores.writable(), POLLING);
      expect(await scratch.storedBodies()).toEqual([]);
    });

    it.skipIf(engine.name === 'postgresql')(
      'fails after failed writes of any store, and counts these writes',
      async () => {
        const release = await scratch.holdWriters();
        const writes = [
          () => stores.keys.add(aKey()),
          () => stores.spend.append([aSpendRow()]),
          () => stores.calls.append([stores.calls.encode(A_CALL)]),
          () => stores.freeTier.reserve({ day: '2026-11-22', ipHash: 'a', calls: 1 }, 10),
          () => stores.responses.remove('resp_1'),
          () => stores.upstreamObjects.remove('file-1', new Date(0)),
          () => stores.checkouts.prune(new Date(0)),
          () =>
            stores.catalogReleases.remove([
              { entryId: 'x', field: 'y', value: 1, releasedAt: new Date(0), releasedBy: '' },
            ]),
          () => stores.catalogHistory.confirm('snapshot', new Date(0)),
          () => stores.traces.removeStartedBefore(0, 1),
        ];
        for (const [failedBefore, write] of writes.entries()) {
          await expect(write()).rejects.toThrow(Unavailable);
          expect(stores.failedWrites()).toBe(failedBefore + 1);
        }
        await expect(stores.writable()).rejects.toEqual(REFUSAL);
        await release();
      },
    );

    it.each(FAULTS.filter(({ engines }) => engines.includes(engine.name)))(
      'fails while $name, and succeeds afterwards without a restart',
      async ({ begin, end }) => {
        const database = await scratch.openBare();
        const traces = createTraceStore(database, bodies);
        await database.writes.check();
        await begin(database);
        await expect(traces.ingestExport(TEAM_KEY, anExport(1, LARGE))).rejects.toThrow(Unavailable);
        await expect(database.writes.check()).rejects.toEqual(REFUSAL);
        await end(database);
        await vi.waitFor(() => database.writes.check(), POLLING);
        await traces.ingestExport(TEAM_KEY, anExport(1, LARGE));
        expect(database.writes.failures()).toBe(1);
      },
    );
  });
