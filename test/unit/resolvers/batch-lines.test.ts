import { describe, expect, it } from 'vitest';
import { assertLinesAllowed } from '../../../resolvers/operation/batch-lines.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import type { CountedCalls } from '../../../src/domain/upstream-objects/batch-calls.ts';
import type { UpstreamObject } from '../../../src/domain/upstream-objects/upstream-object.ts';
import { aCaller, aDeployment, aKey } from '../../support/chat.ts';
import { noSettings } from '../../support/no-settings.ts';

const DEPLOYMENT = aDeployment();
const UPLOADER = aCaller(aKey());

const fileWith = (calls: CountedCalls | null): UpstreamObject => ({
  id: 'file-1',
  kind: 'file',
  deploymentId: DEPLOYMENT.id,
  upstreamId: 'up-file',
  owner: { teamId: null, keyHash: UPLOADER.keyHash },
  createdAt: new Date(0),
  purpose: 'batch',
  shown: null,
  ...(calls === null ? {} : { calls: { m: calls } }),
});

/** Starts a batch over a file, with registered vector stores and guardrails. */
function start(
  file: UpstreamObject,
  caller = aCaller(aKey({ hash: 'another' })),
  { stores = [{ id: 'vs_1', teamId: 'other' }], guardrails = [] as readonly string[] } = {},
): Promise<void> {
  const platform = {
    gateway: { upstreamModelAt: () => 'up-1', lineGuardrails: () => () => guardrails },
    vectorStores: { list: () => stores, find: (id: string) => stores.find((one) => one.id === id) ?? null },
    vectorStoreIndexes: { list: () => [] },
    customerPermissions: { of: () => null },
    configuration: noSettings.configuration,
  };
  const scope = { platform, caller, signal: new AbortController().signal } as unknown as Scope;
  const place = { deployment: DEPLOYMENT, model: 'm' };
  return assertLinesAllowed(scope, { file, endpoint: '/v1/chat/completions', place, labels: undefined });
}

describe('a file from before the vector stores of its lines were listed', () => {
  const file = fileWith({ requests: 1, tokens: 1 });

  it('is refused to other keys where rights to stores exist', async () => {
    await expect(start(file)).rejects.toThrow(
      'The vector stores in the lines of this file are not known: only the key that uploaded it can start a batch.',
    );
    await expect(start(file, undefined, { stores: [] })).resolves.toBeUndefined();
  });

  it('can be used by the key that uploaded it', async () => {
    await expect(start(file, UPLOADER)).resolves.toBeUndefined();
  });

  it('is refused where a guardrail would have checked it, also without counts', async () => {
    const message = "/batches: The guardrail 'g' of this call has not checked the lines of the file: upload it again.";
    for (const one of [file, fileWith(null)])
      await expect(start(one, UPLOADER, { guardrails: ['g'] })).rejects.toThrow(message);
  });
});

it('a file whose lines name no store can be used by other keys of its owner', async () => {
  await expect(start(fileWith({ requests: 1, tokens: 1, stores: [] }))).resolves.toBeUndefined();
});
