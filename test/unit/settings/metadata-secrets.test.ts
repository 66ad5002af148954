import { expect, it } from 'vitest';
import { redactedMetadata, withKeptSecrets } from '../../../src/domain/settings/redaction.ts';

const STORED = {
  logging: [
    {
      callback_name: 'langfuse',
      callback_vars: { langfuse_secret_key: 'sk-1', langfuse_host: 'https://l', token: 'os.environ/TOKEN' },
    },
  ],
  note: 'kept',
};
const SHOWN = {
  logging: [
    {
      callback_name: 'langfuse',
      callback_vars: { langfuse_secret_key: 'REDACTED', langfuse_host: 'https://l', token: 'os.environ/TOKEN' },
    },
  ],
  note: 'kept',
};

it('metadata is shown without the secrets of callbacks', () => {
  expect(redactedMetadata(STORED)).toEqual(SHOWN);
  expect(redactedMetadata({ secret: 'of the client', list: [1, null] })).toEqual({
    secret: 'of the client',
    list: [1, null],
  });
});

it('metadata is shown without the secrets of callbacks at every depth', () => {
  const inside = (levels: number, value: object): object => (levels === 0 ? value : { a: [inside(levels - 1, value)] });
  expect(redactedMetadata(inside(200, STORED))).toEqual(inside(200, SHOWN));
});

it('masked metadata that a client sends back keeps its secrets', () => {
  expect(withKeptSecrets({ ...SHOWN, note: 'new' }, STORED)).toEqual({ ...STORED, note: 'new' });
  expect(withKeptSecrets({ other: 'REDACTED' }, STORED)).toEqual({ other: 'REDACTED' });
  expect(withKeptSecrets(undefined, STORED)).toBeUndefined();
});
