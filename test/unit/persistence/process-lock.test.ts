import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Conflict } from '../../../src/domain/errors.ts';
import { lockDatabase } from '../../../src/persistence/database/process-lock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const lock = (name: string) =>
  lockDatabase({
    databaseUrl: `sqlite:${join(folder, name)}`,
    dataDir: folder,
    log: {
      warn(facts) {
        throw new Error('not locked', { cause: facts });
      },
    },
  });

it('a SQLite file is locked once, also through a symbolic link', async () => {
  writeFileSync(join(folder, 'a.db'), '');
  symlinkSync(join(folder, 'a.db'), join(folder, 'link.db'));
  const held = await lock('a.db');
  expect(held.isHeld).toBe(true);
  await expect(lock('a.db')).rejects.toThrow(Conflict);
  await expect(lock('link.db')).rejects.toThrow(Conflict);
  held.release();
  const linked = await lock('link.db');
  expect(linked.isHeld).toBe(true);
  linked.release();
});

it('PostgreSQL, which several processes use, is not locked', async () => {
  const none = await lockDatabase({ databaseUrl: 'postgres://127.0.0.1/x', dataDir: folder, log: { warn() {} } });
  expect(none.isHeld).toBe(false);
});
