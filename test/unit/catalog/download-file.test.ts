import { expect, it } from 'vitest';
import { download, DownloadFailed } from '../../../src/runtime/catalog/download.ts';

const OPTIONS = {
  fetch: () => Promise.reject(new Error('A file is not fetched.')),
  signal: new AbortController().signal,
  timeoutMs: 1_000,
};

it.each([
  ['file://host/map.json', 'ERR_INVALID_FILE_URL_HOST'],
  ['file:///a%2Fmap.json', 'ERR_INVALID_FILE_URL_PATH'],
  ['file:///no/such/map.json', 'ENOENT'],
])('the download of %s fails with the code %s', async (url, code) => {
  const failure: unknown = await download(url, null, OPTIONS).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(DownloadFailed);
  expect(failure).toMatchObject({ message: `the file cannot be read: ${code}` });
});
