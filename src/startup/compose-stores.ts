import { createSlots } from '../domain/concurrency-limit.ts';
import { createTracePacker } from '../ingest/export-packer.ts';
import { openStores } from '../persistence/database/orm.ts';
import { lockDatabase } from '../persistence/database/process-lock.ts';
import type { Stores } from '../persistence/stores.ts';
import type { ExportPacker } from '../domain/traces/packed.ts';
import type { StartContext } from './context.ts';

/** Locks the database, and opens the stores in it and the packer that reads span exports for the trace store. */
export async function composeStores({ settings, log, shutdown }: StartContext): Promise<{
  readonly stores: Stores;
  readonly exports: ExportPacker;
}> {
  const { databaseUrl, dataDir } = settings;
  const lock = await lockDatabase({ databaseUrl, dataDir, log });
  shutdown.add('database lock', () => lock.release());
  const exports = createTracePacker({
    limits: settings.otlp.limits,
    offloadBytes: settings.otlp.offloadBytes,
    unpacking: createSlots(settings.otlp.concurrentIngests, 'exports are being unpacked'),
  });
  shutdown.add('export workers', () => exports.close());
  const { callNotes, ...switches } = settings.storeSwitches;
  const stores = await openStores({
    // Opens the stored bodies of exports.
    bodies: exports,
    databaseUrl,
    dataDir,
    sqliteDriver: settings.sqliteDriver,
    lockTimeoutMs: settings.lockTimeoutMs,
    isExclusive: lock.isHeld,
    ...switches,
    // Null turns call notes off.
    ...(callNotes ? {} : { notesFrom: null }),
    traces: settings.clickHouse,
    log,
  });
  shutdown.add('stores', () => stores.close());
  return { stores, exports };
}
