import { Worker } from 'node:worker_threads';
import { expect, test, vi } from 'vitest';
import { openWorkerHandle } from '../../../src/persistence/sqlite/worker-handle.ts';

test('a failure of the SQLite worker fails its statements, and does not end the process', async () => {
  const postMessage = vi.spyOn(Worker.prototype, 'postMessage');
  const handle = await openWorkerHandle(':memory:', 'readwrite');
  await handle.all('select 1', []);
  // The worker that has received the statement.
  const [worker] = postMessage.mock.contexts as Worker[];
  postMessage.mockRestore();
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown): void => void rejections.push(reason);
  process.on('unhandledRejection', onRejection);
  try {
    worker?.emit('error', new Error('The worker is out of memory.'));
    await expect(handle.all('select 1', [])).rejects.toThrow('The worker is out of memory.');
    await expect(handle.close()).resolves.toBeUndefined();
    await worker?.terminate();
    expect(rejections).toEqual([]);
  } finally {
    process.off('unhandledRejection', onRejection);
  }
});
