import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/domain/caller.ts';
import type { Verdict } from '../../../src/domain/guardrails/guardrail.ts';
import { toolPolicyGuardrail } from '../../../src/domain/guardrails/kinds/tool-policy.ts';
import { type StoredToolPolicies, toolRules } from '../../../src/domain/tools/tool-policies.ts';
import { aCaller, aKey } from '../../support/chat.ts';

const RULES: StoredToolPolicies = {
  tools: [
    { name: 'blocked', inputPolicy: 'blocked', outputPolicy: 'untrusted' },
    { name: 'careful', inputPolicy: 'trusted', outputPolicy: 'untrusted' },
    { name: 'safe', inputPolicy: 'untrusted', outputPolicy: 'trusted' },
  ],
  overrides: [
    { toolName: 'search', scope: 'team:t1' },
    { toolName: 'pay', scope: 'key:k1' },
  ],
};
const CALLER: Caller = { ...aCaller(null), teamId: null, keyHash: 'k0' };

const verdictOn = (
  { used = [], resultsOf = [] }: { readonly used?: readonly string[]; readonly resultsOf?: readonly string[] },
  caller = CALLER,
  rules = RULES,
): Verdict | Promise<Verdict> =>
  toolPolicyGuardrail(toolRules(rules)).check({
    phase: 'request',
    texts: [],
    model: 'm',
    callId: 'c',
    traceId: 't',
    caller,
    signal: new AbortController().signal,
    tools: () => ({ used, resultsOf: () => resultsOf }),
  });

const PASSED = { kind: 'passed' };
const blocked = (...names: string[]) => ({
  kind: 'blocked',
  detail: {
    error: 'Violated tool policy',
    blocked_tools: names,
    message: `Tool(s) [${names.map((name) => `'${name}'`).join(', ')}] are blocked by policy.`,
  },
});

describe('a guardrail of the kind tool_policy', () => {
  it('refuses blocked tools, and names them', () => {
    expect(verdictOn({ used: ['blocked', 'safe'] })).toEqual(blocked('blocked'));
  });

  it('lets tools without a policy pass', () => {
    expect(verdictOn({ used: ['safe', 'search', 'pay', 'new'], resultsOf: ['new'] })).toEqual(PASSED);
    expect(toolPolicyGuardrail(toolRules(RULES)).readsTools).toBe(true);
  });

  it('refuses a tool for the team and for the key of an override only', () => {
    expect(verdictOn({ used: ['search'] }, { ...CALLER, teamId: 't1' })).toEqual(blocked('search'));
    expect(verdictOn({ used: ['search'] }, { ...CALLER, teamId: 't2' })).toEqual(PASSED);
    expect(verdictOn({ used: ['pay'] }, { ...CALLER, keyHash: 'k1' })).toEqual(blocked('pay'));
  });

  it('refuses the tools that `blocked_tools` of a permission has, and all tools for an invalid list', () => {
    const callerWith = (list: unknown): Caller => {
      const key = aKey();
      return aCaller({
        ...key,
        settings: { ...key.settings, objectPermission: { blocked_tools: list } },
      });
    };
    expect(verdictOn({ used: ['x', 'y'] }, callerWith(['y']))).toEqual(blocked('y'));
    expect(verdictOn({ used: ['x'] }, callerWith([]))).toEqual(PASSED);
    expect(verdictOn({ used: ['x'] }, callerWith('x'))).toEqual(blocked('x'));
  });

  it('refuses a tool that needs trusted input where the conversation has output of an untrusted tool', () => {
    expect(verdictOn({ used: ['careful'], resultsOf: ['safe', 'web'] })).toEqual({
      kind: 'blocked',
      detail: {
        error: 'Violated tool policy',
        blocked_tools: ['careful'],
        untrusted_sources: ['web'],
        message: 'careful requires trusted input but conversation contains untrusted output from web.',
      },
    });
    expect(verdictOn({ used: ['careful'], resultsOf: ['safe'] })).toEqual(PASSED);
    expect(verdictOn({ used: ['careful'] })).toEqual(PASSED);
  });
});
