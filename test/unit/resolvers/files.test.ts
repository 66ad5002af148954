import { expect, it } from 'vitest';
import { createFile } from '../../../resolvers/files.ts';
import { createBatch, listBatches } from '../../../resolvers/batches.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { streamOfBytes } from '../../../src/domain/bytes.ts';
import { Unavailable } from '../../../src/domain/errors.ts';
import type { PassThrough } from '../../../src/domain/upstream-objects/pass-through.ts';
import type { UpstreamObject } from '../../../src/domain/upstream-objects/upstream-object.ts';
import { fieldsOf, readForm } from '../../../src/wire/multipart/form.ts';
import { aCaller, aDeployment } from '../../support/chat.ts';
import { NO_OPEN_COSTS } from '../../support/no-open-costs.ts';
import { settledCall } from '../../support/settled-call.ts';

const DEPLOYMENT = aDeployment();
const FILE: UpstreamObject = {
  id: 'file-1',
  kind: 'file',
  deploymentId: DEPLOYMENT.id,
  upstreamId: 'up-lines',
  owner: { teamId: null, keyHash: aCaller().keyHash },
  createdAt: new Date(0),
  purpose: 'batch',
  shown: null,
};

/** A scope over a store that refuses writes, with the upstream requests and the ends of their calls. */
function aSetup(options: { readonly found?: UpstreamObject | null; readonly isConfigured?: boolean } = {}) {
  const upstreamRequests: string[] = [];
  const ends: string[] = [];
  const gateway = {
    placeFor: () => ({ deployment: DEPLOYMENT, model: 'm' }),
    deployment: () => (options.isConfigured === false ? null : DEPLOYMENT),
    deploymentsAt: (id: string) => [id],
    upstreamModelAt: () => 'up-1',
    lineGuardrails: () => () => [],
    openCosts: NO_OPEN_COSTS,
    pass: (_caller: unknown, _deployment: unknown, { action, path }: PassThrough) => {
      upstreamRequests.push(`${action.method} ${path}`);
      const body = Buffer.from(JSON.stringify({ id: 'up-1', object: action.kind }));
      const answer = { bytes: streamOfBytes(body), deltas: () => [][Symbol.iterator]() as never };
      return Promise.resolve(settledCall(answer, (end) => ends.push(end)));
    },
  };
  const refuse = () => Promise.reject(new Unavailable('The database is unavailable.'));
  const upstreamObjects = {
    add: refuse,
    find: () => Promise.resolve(options.found ?? null),
    list: () => Promise.resolve(options.found ? [options.found] : []),
    findAtUpstream: () => Promise.resolve([]),
  };
  const platform = {
    gateway,
    stores: { upstreamObjects },
    fileLimits: { file: null, batchFile: null },
    objectQueue: { caughtUp: () => Promise.resolve() },
    ids: { uuid: () => 'a-b' },
    clock: { now: () => new Date(0) },
  };
  const scope = { platform, caller: aCaller(), signal: new AbortController().signal } as unknown as Scope;
  return { scope, upstreamRequests, ends };
}

const CALL = { callId: null, parent: null };

it('a file that cannot be recorded is deleted upstream, and the caller gets an error', async () => {
  const part = (name: string, more: string, text: string): string =>
    `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${text}\r\n`;
  const bytes = Buffer.from(`${part('purpose', '', 'evals')}${part('file', '; filename="a"', 'x')}--b--`);
  const form = readForm(bytes, 'multipart/form-data; boundary=b');
  const { scope, upstreamRequests, ends } = aSetup();
  const draft = { form, fields: fieldsOf(form), gatewayFields: [], model: null, provider: null, ...CALL };
  await expect(createFile(scope, draft)).rejects.toThrow('The database is unavailable.');
  expect([upstreamRequests, ends]).toEqual([
    ['POST /files', 'DELETE /files/up-1'],
    ['completed', 'completed'],
  ]);
});

const BATCH = { input_file_id: 'file-1', endpoint: '/v1/embeddings', completion_window: '24h' };
const DRAFT = { bytes: Buffer.from(JSON.stringify(BATCH)), body: BATCH, gatewayMembers: [], ...CALL };

it('a batch that cannot be recorded is cancelled upstream, and the caller gets an error', async () => {
  const { scope, upstreamRequests } = aSetup({ found: FILE });
  await expect(createBatch(scope, DRAFT)).rejects.toThrow('The database is unavailable.');
  expect(upstreamRequests).toEqual(['POST /batches', 'POST /batches/up-1/cancel']);
});

it('a new batch for a file of a removed deployment is refused, and an old batch keeps its last state', async () => {
  const { scope, upstreamRequests } = aSetup({ found: FILE, isConfigured: false });
  await expect(createBatch(scope, DRAFT)).rejects.toThrow(
    'No such File object: file-1. The deployment it was kept at is no longer configured.',
  );
  const batch = { ...FILE, id: 'batch_1', kind: 'batch', shown: { id: 'up-2', status: 'validating' } } as const;
  const removed = aSetup({ found: batch, isConfigured: false });
  const page = { after: null, limit: 10, oldestFirst: false };
  expect(await listBatches(removed.scope, page)).toEqual({
    data: [{ id: 'batch_1', status: 'validating' }],
    hasMore: false,
  });
  expect([...upstreamRequests, ...removed.upstreamRequests]).toEqual([]);
});
