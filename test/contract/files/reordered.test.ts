import { afterEach, beforeEach, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp } from '../../support/start-app.ts';
import { accountOf, configOver, formOf, serveFiles } from './file-client.ts';

let upstream: FaultServer;
beforeEach(async () => {
  upstream = await startFaultServer();
  serveFiles(upstream);
});
afterEach(() => upstream.stop());

it('a file can be read after the models change their order in the configuration', async () => {
  const config = configOver(upstream);
  const before = await startApp({ config });
  const upload = async (model: string): Promise<string> => {
    const response = await fetch(`${before.url}/v1/files?model=${model}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${before.adminKey}` },
      body: formOf({ purpose: 'user_data' }),
    });
    return ((await response.json()) as { readonly id: string }).id;
  };
  const ids = { assistant: await upload('assistant'), apart: await upload('apart') };
  await before.stop({ keepData: true });

  const reordered = { ...config, model_list: config.model_list.toReversed() };
  const after = await startApp({ config: reordered, dataDir: before.dataDir });
  const accountFor = async (id: string): Promise<unknown> => {
    const { status } = await after.call('GET', `/v1/files/${id}/content`);
    return [status, accountOf(upstream)];
  };
  // The accounts of the models `assistant` and `apart`.
  expect(await accountFor(ids.assistant)).toEqual([200, 'account']);
  expect(await accountFor(ids.apart)).toEqual([200, 'account-apart']);
  await after.stop();
});
