import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, type ScratchDatabase } from '../../ports/engines.ts';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, configOver, formOf, refusal, send, serveFiles, upload } from './file-client.ts';

const NO_FILE = refusal(404, 'No such File object: a\0b', { type: 'not_found_error' });
const NO_BATCH = refusal(404, "No batch found with id 'a\0b'.", { type: 'not_found_error' });
const EMPTY_PAGE = [200, { object: 'list', data: [], first_id: null, last_id: null, has_more: false }];

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`a NUL character on ${engine.name}`, () => {
    let upstream: FaultServer;
    let scratch: ScratchDatabase;
    let app: TestApp;
    beforeAll(async () => {
      upstream = await startFaultServer();
      serveFiles(upstream);
      scratch = await engine.create();
      const { dataDir, env } = scratch.appOptions;
      app = await startApp({ config: configOver(upstream), ...(dataDir === undefined ? {} : { dataDir }), env });
      await upload(app);
    });
    afterAll(async () => {
      await app.stop({ keepData: true });
      await scratch.remove();
      await upstream.stop();
    });

    it.each([
      ['GET', '/v1/files/a%00b', NO_FILE],
      ['DELETE', '/v1/files/a%00b', NO_FILE],
      ['GET', '/v1/files/a%00b/content', NO_FILE],
      ['GET', '/v1/batches/a%00b', NO_BATCH],
      ['POST', '/v1/batches/a%00b/cancel', NO_BATCH],
      ['GET', '/v1/files?after=a%00b', EMPTY_PAGE],
      ['GET', '/v1/files?purpose=a%00b', EMPTY_PAGE],
      ['GET', '/v1/batches?after=a%00b', EMPTY_PAGE],
    ])('is part of no stored id or purpose: %s %s', async (method, path, expected) => {
      expect(await answerOf(await send(app, method, path))).toEqual(expected);
    });

    it('is replaced in a stored purpose', async () => {
      const uploaded = await send(app, 'POST', '/v1/files', { body: formOf({ purpose: 'x\0y' }) });
      const [status, file] = await answerOf(uploaded);
      expect(status).toBe(200);
      const { id } = file as { id: string };
      const [, page] = await answerOf(await send(app, 'GET', '/v1/files?purpose=x%00y'));
      expect((page as { data: { id: string }[] }).data.map((listed) => listed.id)).toEqual([id]);
    });
  });
