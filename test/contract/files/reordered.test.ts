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
  const firstApp = await startApp({ config });
  const upload = async (model: string): Promise<string> => {
    const response = await fetch(`${firstApp.url}/v1/files?model=${model}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${firstApp.adminKey}` },
      body: formOf({ purpose: 'user_data' }),
    });
    return ((await response.json()) as { readonly id: string }).id;
  };
  const ids = { assistant: await upload('assistant'), apart: await upload('apart') };
  await firstApp.stop({ keepData: true });

  const reordered = { ...config, model_list: config.model_list.toReversed() };
  const reorderedApp = await startApp({ config: reordered, dataDir: firstApp.dataDir });
  const accountFor = async (id: string): Promise<unknown> => {
    const { status } = await reorderedApp.call('GET', `/v1/files/${id}/content`);
    return [status, accountOf(upstream)];
  };
  // The accounts of the models `assistant` and `apart`.
  expect(await accountFor(ids.assistant)).toEqual([200, 'account']);
  expect(await accountFor(ids.apart)).toEqual([200, 'account-apart']);
  await reorderedApp.stop();
});
