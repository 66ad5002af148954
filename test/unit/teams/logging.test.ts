import { expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import {
  isLoggingDisabled,
  renewedCallbacks,
  storedCallbacks,
  teamCallbacks,
} from '../../../src/domain/teams/logging.ts';
import { callbackSealer } from '../../../src/runtime/credentials/text-sealer.ts';

const [oldSalt, newSalt] = [new Secret('salt-1'), new Secret('salt-2')];
const beforeChange = callbackSealer({ current: oldSalt, former: [] });
const afterChange = callbackSealer({ current: newSalt, former: [oldSalt] });

it('secrets of callbacks are re-encrypted after a change of the salt key', () => {
  const metadata = {
    note: 'n',
    logging: [
      {
        callback_name: 'langfuse',
        callback_vars: { langfuse_secret_key: beforeChange.seal('sk-1', 't1'), langfuse_host: 'http://x' },
      },
      'no callback',
    ],
  };
  const renewed = renewedCallbacks(metadata, (text) => afterChange.renewed(text, 't1')) ?? {};
  const [callback] = teamCallbacks(renewed);
  const sealed = callback?.vars['langfuse_secret_key'] ?? '';
  expect({ ...renewed, logging: null }).toEqual({ note: 'n', logging: null });
  expect(callback).toEqual({
    name: 'langfuse',
    type: 'success_and_failure',
    vars: { langfuse_secret_key: sealed, langfuse_host: 'http://x' },
  });
  expect(callbackSealer({ current: newSalt, former: [] }).open(sealed, 't1')).toBe('sk-1');
  expect(renewedCallbacks(renewed, (text) => afterChange.renewed(text, 't1'))).toBeNull();
});

it('entries and variables without a secret are unchanged by a re-encryption', () => {
  const others = [
    { callback_name: 'other', callback_vars: { rate: 0.5, tags: ['a'], off: null } },
    { callback_name: 'x' },
  ];
  const secret = { callback_name: 'langfuse', callback_vars: { langfuse_secret_key: 'old', sample: 2 } };
  const renewed = renewedCallbacks({ logging: [secret, ...others] }, (text) => (text === 'old' ? 'new' : null));
  expect(renewed).toEqual({
    logging: [{ callback_name: 'langfuse', callback_vars: { langfuse_secret_key: 'new', sample: 2 } }, ...others],
  });
});

it('an encrypted text is decrypted only for its own row, and a plain text is returned unchanged', () => {
  const sealed = beforeChange.seal('sk-1', 't1');
  expect(sealed).not.toContain('sk-1');
  expect([beforeChange.open(sealed, 't1'), beforeChange.open(sealed, 't2'), beforeChange.open('plain', 't1')]).toEqual([
    'sk-1',
    null,
    'plain',
  ]);
});

it('logging is disabled where both lists of callbacks are empty', () => {
  const lists = (success: unknown, failure: unknown) => ({
    callback_settings: { success_callback: success, failure_callback: failure },
  });
  expect([lists([], []), lists(['langfuse'], []), lists([], undefined), {}].map(isLoggingDisabled)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

it('secrets of written metadata are encrypted for new callbacks only', () => {
  const seal = (text: string): string => `sealed:${text.length}`;
  const entry = (secret: string) => ({
    callback_name: 'langsmith',
    callback_vars: { langsmith_api_key: secret, langsmith_project: 'p', other: 'o' },
  });
  const sent = { logging: [entry('REDACTED'), { ...entry('ls-2'), callback_type: 'failure' }] };
  const before = { logging: [entry('sealed:1')] };
  /** What was sent, with the known secret in place of its mask. */
  const unmasked = { logging: [entry('sealed:1'), sent.logging[1]] };
  expect(storedCallbacks(unmasked, { sent, before }, seal)).toEqual({
    logging: [entry('sealed:1'), { ...entry('sealed:4'), callback_type: 'failure' }],
  });
});
