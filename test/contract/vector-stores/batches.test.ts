import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, NO_KEY, type StoreServer, startStoreServer } from './store-server.ts';

let server: StoreServer;
/** Keys: of the team that owns the store, and without a team. */
let member: string;
let stranger: string;
let store: string;
let batch: string;
/** Id of a file of the member at the gateway, and ids of files at the upstream. */
let own: string;
let files: readonly string[];

/** Uploads a file. Returns its id at the gateway. */
async function upload(key: string): Promise<string> {
  const form = new FormData();
  form.append('purpose', 'assistants');
  form.append('file', new Blob(['text']), 'a.txt');
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${server.app.url}/v1/files`, { method: 'POST', headers, body: form });
  return String(((await answer.json()) as Json)['id']);
}

beforeAll(async () => {
  server = await startStoreServer();
  member = await server.newKey({ team_id: await server.newTeam('owners') });
  stranger = await server.newKey();
  store = await server.newStore(member);
  own = await upload(member);
  files = [await server.newFile('one'), await server.newFile('two')];
  const [, made] = await create({ file_ids: files }, server.app.adminKey);
  batch = String((made as Json)['id']);
});
afterAll(() => server.stop());

const create = (body: unknown, key: string | null = member, id = store) =>
  server.ask('POST', `/v1/vector_stores/${id}/file_batches`, body, key);
/** Body of the last request to the upstream. */
const sentBody = (): Json => JSON.parse(server.upstream.received.at(-1)?.body ?? '{}') as Json;

/** A batch in an answer. */
const shown = (status: string): Json => ({
  id: expect.stringMatching(/^vsfb_up/) as string,
  object: 'vector_store.files_batch',
  vector_store_id: store,
  status,
});
const invalid = (message: string, param: string | null): readonly [number, Json] => [
  400,
  { error: { message, type: 'bad_request_error', param, code: '400' } },
];

type Row = readonly [name: string, method: string, end: string, body: Json | undefined];
const ROWS: readonly Row[] = [
  ['storeBatches.create', 'POST', '', { file_ids: ['FILE'] }],
  ['storeBatches.get', 'GET', '/BATCH', undefined],
  ['storeBatches.cancel', 'POST', '/BATCH/cancel', {}],
  ['storeBatches.files', 'GET', '/BATCH/files', undefined],
];
const ask = ([, method, end, body]: Row, key: string | null, id = store) =>
  server.ask(method, `/v1/vector_stores/${id}/file_batches${end.replace('BATCH', batch)}`, body, key);

describe('routes of batches of files', () => {
  it.each(ROWS)('%s 401: no key', async (...row) => {
    expect(await ask(row, null)).toEqual([401, NO_KEY]);
  });

  it.each(ROWS)('%s 403: a store of another team', async (...row) => {
    const message = `The team of the key is not allowed to access the vector store ${store}.`;
    expect(await ask(row, stranger)).toEqual([
      403,
      { error: { message, type: 'team_vector_store_access_denied', param: null, code: '403' } },
    ]);
  });

  it.each(ROWS)('%s 404: an unregistered store, for the key of a team', async (...row) => {
    const message = 'Vector store with ID vs_nope not found';
    expect(await ask(row, member, 'vs_nope')).toEqual([
      404,
      { error: { message, type: 'not_found_error', param: null, code: '404' } },
    ]);
  });

  it.each(ROWS.filter(([, method]) => method === 'POST'))('%s 400: no JSON', async (_name, method, end) => {
    const path = `/v1/vector_stores/${store}/file_batches${end.replace('BATCH', batch)}`;
    expect((await server.ask(method, path, '{', member))[0]).toBe(400);
  });
});

describe('storeBatches.create', () => {
  it('200: files of the caller, sent with their ids at the upstream, and attributes', async () => {
    expect(await create({ file_ids: [own], attributes: { a: 'b' } })).toEqual([200, shown('in_progress')]);
    const [id] = sentBody()['file_ids'] as readonly string[];
    expect(sentBody()).toEqual({ file_ids: [expect.stringMatching(/^file-up/) as string], attributes: { a: 'b' } });
    expect((await create({ files: [{ file_id: own, attributes: { c: 1 } }] }))[0]).toBe(200);
    expect(sentBody()).toEqual({ files: [{ file_id: id, attributes: { c: 1 } }] });
  });

  it('400: no list of files, and invalid and too long lists', async () => {
    const long = Array.from({ length: 501 }, () => own);
    expect(await create({})).toEqual(invalid('file_ids or files must be a list.', 'file_ids'));
    expect(await create({ file_ids: own })).toEqual(invalid('file_ids must be a list of strings.', 'file_ids'));
    expect(await create({ file_ids: long })).toEqual(invalid('file_ids must have at most 500 ids.', 'file_ids'));
    for (const list of [own, [{}], ['x']])
      expect(await create({ files: list })).toEqual(
        invalid('files must be a list of objects with a file_id.', 'files'),
      );
    expect(await create({ files: long.map((id) => ({ file_id: id })) })).toEqual(
      invalid('files must have at most 500 files.', 'files'),
    );
  });

  it('404: a file of another key, and an id of the upstream', async () => {
    const before = server.upstream.received.length;
    for (const id of [await upload(stranger), files[0]]) {
      expect((await create({ file_ids: [id] }))[0]).toBe(404);
      expect((await create({ files: [{ file_id: id }] }))[0]).toBe(404);
    }
    // The upload, and no batch.
    expect(server.upstream.received.length).toBe(before + 1);
  });
});

describe('storeBatches.get, storeBatches.files and storeBatches.cancel', () => {
  const path = (end = '') => `/v1/vector_stores/${store}/file_batches/${batch}${end}`;

  it('200: the answers of the provider, also on an unversioned path', async () => {
    expect(await server.ask('GET', path(), undefined, member)).toEqual([200, shown('completed')]);
    const [status, list] = await server.ask('GET', `${path('/files').slice(3)}?limit=5`, undefined, member);
    expect([status, (list as { readonly data: readonly Json[] }).data.map(({ id }) => id)]).toEqual([200, files]);
    expect(server.upstream.received.at(-1)?.search).toBe('?limit=5');
    expect(await server.ask('POST', path('/cancel'), {}, member)).toEqual([200, shown('cancelled')]);
  });

  it('404: a batch of another store', async () => {
    const other = await server.newStore(member);
    expect((await server.ask('GET', `/v1/vector_stores/${other}/file_batches/${batch}`, undefined, member))[0]).toBe(
      404,
    );
  });
});
