import { expect, it } from 'vitest';
import type { GuardrailDefinition } from '../../../src/domain/guardrails/definition.ts';
import { createActiveGuardrails } from '../../../src/runtime/guardrails/active-guardrails.ts';

it.each(['constructor', '__proto__', 'toString'])('a guardrail of the unknown kind %s refuses calls', (kind) => {
  const definition: GuardrailDefinition = {
    id: 'one',
    name: 'words',
    kind,
    modes: ['pre_call'],
    defaultOn: true,
    params: { guardrail: kind, mode: 'pre_call' },
    info: null,
    isFromConfig: true,
    teamId: null,
    createdAt: null,
    updatedAt: null,
  };
  const fault = `guardrails of the kind '${kind}' do not run here`;
  const guardrails = createActiveGuardrails({ directory: { definitions: () => [definition] } });
  expect(guardrails.faultOf(definition)).toBe(fault);
  const [active] = guardrails.current();
  expect(() => active?.guardrail.check({} as never)).toThrow(
    `The guardrail 'words' cannot run, so the call is refused: ${fault}.`,
  );
});
