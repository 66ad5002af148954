import { expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { withMarkedSecrets, withRestoredSecrets } from '../../../src/runtime/settings/marked-secrets.ts';

it('secrets in lists and objects are restored after a structured clone, and functions are omitted', () => {
  const original = {
    key: new Secret('hush'),
    list: [{ own: new Secret('quiet') }],
    plain: 1,
    none: null,
    run: () => 1,
  };
  const received = withRestoredSecrets(structuredClone(withMarkedSecrets(original, 'mark')), 'mark') as typeof original;
  expect(received.key.reveal()).toBe('hush');
  expect(received.list[0]?.own.reveal()).toBe('quiet');
  expect({ ...received, key: null, list: null }).toEqual({ key: null, list: null, plain: 1, none: null });
});

it('an object without the mark is unchanged, also with one string member as in a marked secret', () => {
  expect(withRestoredSecrets(withMarkedSecrets({ other: 'text' }, 'mark'), 'mark')).toEqual({ other: 'text' });
});

it('a list is sent without its functions', () => {
  expect(structuredClone(withMarkedSecrets(['first', () => 1, 'last'], 'mark'))).toEqual(['first', 'last']);
});
