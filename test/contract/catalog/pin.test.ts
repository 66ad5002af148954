import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCatalogServer, snapshotOf } from './catalog-server.ts';

const OLD = snapshotOf('old-snapshot', { a: { mode: 'chat' }, b: { mode: 'chat' }, gone: { mode: 'chat' } });
const NEW = snapshotOf('new-snapshot', { b: { mode: 'chat', max_tokens: 5 }, c: { mode: 'chat' } });
const SNAPSHOTS = [OLD, NEW];

/** Body of the error for `snapshot=dropped`, on every path. */
const SNAPSHOT_NOT_STORED = {
  detail: [
    {
      type: 'snapshot_not_kept',
      loc: ['query', 'snapshot'],
      msg: 'This catalog snapshot is no longer stored. Repeat the request without `snapshot`.',
      input: 'dropped',
    },
  ],
};

let server: Awaited<ReturnType<typeof startCatalogServer>>;
beforeAll(async () => {
  server = await startCatalogServer({
    current: () => NEW,
    findSnapshot: (id) => SNAPSHOTS.find((snapshot) => snapshot.id === id) ?? null,
  });
});
afterAll(() => server.close());

async function get(path: string): Promise<{ status: number; snapshot: string | null; text: string }> {
  const response = await fetch(`${server.url}${path}`);
  const { status, headers } = response;
  return { status, snapshot: headers.get('x-catalog-snapshot'), text: await response.text() };
}
const idsOf = (text: string) => (JSON.parse(text) as { data: { id: string }[] }).data.map(({ id }) => id);

describe('catalog.list 200 with and without a pinned snapshot', () => {
  it('a header has the id of the snapshot', async () => {
    const { snapshot, text } = await get('/model_catalog');
    expect([snapshot, idsOf(text)]).toEqual(['new-snapshot', ['b', 'c']]);
  });
  it.each([
    ['', 'new-snapshot', ['b', 'c']],
    ['snapshot=new-snapshot', 'new-snapshot', ['b', 'c']],
    ['snapshot=old-snapshot', 'old-snapshot', ['a', 'b', 'gone']],
    // The last value of a repeated parameter counts.
    ['snapshot=dropped&snapshot=old-snapshot&model=g', 'old-snapshot', ['gone']],
    ['snapshot=old-snapshot&page=2&page_size=2', 'old-snapshot', ['gone']],
  ])('the query %j lists the snapshot %s', async (search, snapshotId, ids) => {
    const { status, snapshot, text } = await get(`/model_catalog?${search}`);
    expect([status, snapshot, idsOf(text)]).toEqual([200, snapshotId, ids]);
  });
  it('the bytes are the same with a pin of the current snapshot and without a pin', async () => {
    const [unpinned, pinned] = await Promise.all([get('/model_catalog'), get('/model_catalog?snapshot=new-snapshot')]);
    expect(pinned).toEqual(unpinned);
  });
});

describe('catalog.list 422 for a snapshot that is not stored', () => {
  it('is an error, not a list of another snapshot', async () => {
    const { status, text } = await get('/model_catalog?snapshot=dropped');
    expect([status, JSON.parse(text)]).toEqual([422, SNAPSHOT_NOT_STORED]);
  });
  it('reports invalid parameters first', async () => {
    const { text } = await get('/model_catalog?snapshot=dropped&page=0');
    expect((JSON.parse(text) as typeof SNAPSHOT_NOT_STORED).detail.map(({ loc }) => loc)).toEqual([['query', 'page']]);
  });
});

describe('catalog.get with a pinned snapshot', () => {
  it('catalog.get 200: the entry of the pinned snapshot', async () => {
    const [current, pinned] = await Promise.all([
      get('/model_catalog/b'),
      get('/model_catalog/b?snapshot=old-snapshot'),
    ]);
    const limitIn = ({ text }: typeof current) => (JSON.parse(text) as { max_tokens: number | null }).max_tokens;
    expect([current.snapshot, limitIn(current), pinned.snapshot, limitIn(pinned)]).toEqual([
      'new-snapshot',
      5,
      'old-snapshot',
      null,
    ]);
  });
  it('catalog.get 404: an entry that is not in the snapshot of the request', async () => {
    const [current, pinned] = await Promise.all([
      get('/model_catalog/gone'),
      get('/model_catalog/c?snapshot=old-snapshot'),
    ]);
    expect([current.status, current.text, pinned.status, pinned.text]).toEqual([
      404,
      '{"detail":"Model \'gone\' not found in catalog"}',
      404,
      '{"detail":"Model \'c\' not found in catalog"}',
    ]);
  });
  it('catalog.get 422: a snapshot that is not stored', async () => {
    const { status, text } = await get('/model_catalog/b?snapshot=dropped');
    expect([status, JSON.parse(text)]).toEqual([422, SNAPSHOT_NOT_STORED]);
  });
});
