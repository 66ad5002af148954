import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchFiles } from '../../../src/runtime/settings/watch-files.ts';
import { POLLING } from '../../support/polling.ts';
import { aScheduler } from '../../support/scheduler.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-watch-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

it('changed, new and removed files are reported, each change once', async () => {
  const [main, included] = [join(folder, 'main.yaml'), join(folder, 'included.yaml')];
  writeFileSync(main, 'one');
  let changes = 0;
  const watch = watchFiles({
    files: () => [main, included],
    everyMs: 5,
    scheduler: aScheduler(),
    onChange() {
      changes += 1;
    },
  });
  const changesReach = (count: number): Promise<void> =>
    vi.waitFor(
      () => {
        if (changes !== count) throw new Error(`${changes} changes`);
      },
      { ...POLLING, interval: 5 },
    );
  try {
    await watch.markCurrent();
    watch.start();
    writeFileSync(main, 'two and more');
    await changesReach(1);
    writeFileSync(included, 'new');
    await changesReach(2);
    rmSync(included);
    await changesReach(3);
    expect(changes).toBe(3);
  } finally {
    watch.stop();
  }
});

it('a state that is marked as current is not reported', async () => {
  const file = join(folder, 'main.yaml');
  writeFileSync(file, 'one');
  let changes = 0;
  const watch = watchFiles({
    files: () => [file],
    everyMs: 5,
    scheduler: aScheduler(),
    onChange() {
      changes += 1;
    },
  });
  watch.start();
  try {
    writeFileSync(file, 'two and more');
    await watch.markCurrent();
    writeFileSync(file, 'three and even more');
    await vi.waitFor(
      () => {
        if (changes === 0) throw new Error('No change yet.');
      },
      { ...POLLING, interval: 5 },
    );
    expect(changes).toBe(1);
  } finally {
    watch.stop();
  }
});
