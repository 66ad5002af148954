import { describe, expect, it } from 'vitest';
import { Forbidden } from '../../../src/domain/errors.ts';
import { assertMayChangeGuardrails, callerGuardrailsOf } from '../../../src/domain/guardrails/key-guardrails.ts';
import { aKey } from '../../support/chat.ts';
import { someOwners } from '../../support/key-owners.ts';

describe('guardrails of a key', () => {
  it('are none for the admin key, and for a key without settings', () => {
    const none = { named: [], disableGlobal: false, optedOut: [] };
    expect(callerGuardrailsOf(null)).toEqual(none);
    expect(callerGuardrailsOf(aKey())).toEqual(none);
    expect(callerGuardrailsOf(aKey({ owners: someOwners({ team: {}, project: {} }) }))).toEqual(none);
  });

  it('are those of the key, its team and its project', () => {
    const owners = someOwners({
      team: {},
      project: {},
      teamMetadata: { guardrails: ['b', 'c'], opted_out_global_guardrails: ['y'] },
      projectMetadata: {
        guardrails: ['d', 1],
        disable_global_guardrails: true,
        opted_out_global_guardrails: ['z'],
      },
    });
    const metadata = { guardrails: ['a', 'b'], opted_out_global_guardrails: ['x', 'y'] };
    expect(callerGuardrailsOf(aKey({ metadata, owners }))).toEqual({
      named: ['a', 'b', 'c', 'd'],
      disableGlobal: false,
      optedOut: ['x', 'y'],
    });
  });

  it.each([
    [{ disable_global_guardrails: true }, {}, true],
    [{}, { disable_global_guardrails: true }, true],
    [{ disable_global_guardrails: false }, { disable_global_guardrails: true }, true],
    [{ disable_global_guardrails: 'true' }, {}, false],
  ])('are switched off by the key or its team: %j %j', (metadata, teamMetadata, expected) => {
    const key = aKey({ metadata, owners: someOwners({ team: {}, teamMetadata }) });
    expect(callerGuardrailsOf(key).disableGlobal).toBe(expected);
  });

  it('have no names where the setting of the team is an object', () => {
    const owners = someOwners({ team: {}, teamMetadata: { guardrails: { modify_guardrails: false } } });
    expect(callerGuardrailsOf(aKey({ owners })).named).toEqual([]);
  });
});

describe('a request that changes guardrails', () => {
  const restricted = [{ guardrails: { modify_guardrails: false } }, { guardrails_modify: false }];
  const changes = [
    { guardrails: ['a'] },
    { guardrails: [] },
    { disable_global_guardrails: true },
    { disable_global_guardrail: false },
    { opted_out_global_guardrails: ['a'] },
    { metadata: { guardrails: { a: false } } },
    { metadata: '{"guardrails":["a"]}' },
    { litellm_metadata: { disable_global_guardrails: true } },
    { litellm_metadata: '{"opted_out_global_guardrails":[]}' },
  ];
  const keyOf = (teamMetadata: Readonly<Record<string, unknown>>) =>
    aKey({ owners: someOwners({ team: {}, teamMetadata }) });

  it.each(restricted.flatMap((team) => changes.map((body) => [team, body] as const)))(
    'is refused where the team has no permission: %j %j',
    (team, body) => {
      expect(() => assertMayChangeGuardrails(keyOf(team), body)).toThrow(
        new Forbidden('Your team does not have permission to modify guardrails.', 'guardrails'),
      );
    },
  );

  it.each([{}, { guardrails: null }, { metadata: '{' }, { metadata: { tags: [] } }, { metadata: [1] }])(
    'is not such a request without these members: %j',
    (body) => expect(() => assertMayChangeGuardrails(keyOf({ guardrails_modify: false }), body)).not.toThrow(),
  );

  it.each([{}, { guardrails: ['a'] }, { guardrails: { modify_guardrails: true } }, { guardrails_modify: true }])(
    'is allowed where the team has the permission: %j',
    (team) => {
      for (const body of changes) expect(() => assertMayChangeGuardrails(keyOf(team), body)).not.toThrow();
      for (const body of changes) expect(() => assertMayChangeGuardrails(null, body)).not.toThrow();
    },
  );
});
