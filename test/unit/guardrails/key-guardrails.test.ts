import { describe, expect, it } from 'vitest';
import { Forbidden } from '../../../src/domain/errors.ts';
import { assertMayChangeGuardrails, callerGuardrailsOf } from '../../../src/domain/guardrails/key-guardrails.ts';
import { aKey } from '../../support/chat.ts';
import { someOwners } from '../../support/key-owners.ts';

describe('guardrails of a key', () => {
  it('do not exist for the admin key, and for a key without settings', () => {
    const noGuardrails = { named: [], disableGlobal: false, optedOut: [] };
    expect(callerGuardrailsOf(null)).toEqual(noGuardrails);
    expect(callerGuardrailsOf(aKey())).toEqual(noGuardrails);
    expect(callerGuardrailsOf(aKey({ owners: someOwners({ team: {}, project: {} }) }))).toEqual(noGuardrails);
  });

  it('are named by the key, its team and its project, and excluded by the key and its team only', () => {
    const owners = someOwners({
      team: {},
      project: {},
      teamMetadata: { guardrails: ['b', 'c'], opted_out_global_guardrails: ['y', 'w'] },
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
      optedOut: ['x', 'y', 'w'],
    });
  });

  it.each([
    [{ disable_global_guardrails: true }, {}, true],
    [{}, { disable_global_guardrails: true }, true],
    [{ disable_global_guardrails: false }, { disable_global_guardrails: true }, true],
    [{ disable_global_guardrails: 'true' }, {}, false],
  ])(
    'exclude global guardrails where the key or its team disables them: %j %j gives %s',
    (metadata, teamMetadata, expected) => {
      const key = aKey({ metadata, owners: someOwners({ team: {}, teamMetadata }) });
      expect(callerGuardrailsOf(key).disableGlobal).toBe(expected);
    },
  );

  it('have no names where the setting of the team is an object', () => {
    const owners = someOwners({ team: {}, teamMetadata: { guardrails: { modify_guardrails: false } } });
    expect(callerGuardrailsOf(aKey({ owners })).named).toEqual([]);
  });
});

describe('a request', () => {
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
    'that changes guardrails is refused where the team has no permission: %j %j',
    (team, body) => {
      expect(() => assertMayChangeGuardrails(keyOf(team), body)).toThrow(
        new Forbidden('Your team does not have permission to modify guardrails.', 'guardrails'),
      );
    },
  );

  it.each([{}, { guardrails: null }, { metadata: '{' }, { metadata: { tags: [] } }, { metadata: [1] }])(
    'that changes no guardrails is allowed without the permission: %j',
    (body) => expect(() => assertMayChangeGuardrails(keyOf({ guardrails_modify: false }), body)).not.toThrow(),
  );

  it.each([{}, { guardrails: ['a'] }, { guardrails: { modify_guardrails: true } }, { guardrails_modify: true }])(
    'that changes guardrails is allowed where the team has the permission, and for the admin key: %j',
    (team) => {
      for (const body of changes) expect(() => assertMayChangeGuardrails(keyOf(team), body)).not.toThrow();
      for (const body of changes) expect(() => assertMayChangeGuardrails(null, body)).not.toThrow();
    },
  );
});
