import { GuardrailMissing } from '../../errors.ts';
import type { GuardrailDefinition } from '../definition.ts';
import type { Guardrail } from '../guardrail.ts';

/**
 * A guardrail that cannot run with its settings. It refuses the calls that it is selected for: a call without a check that
 * was asked for looks checked.
 */
export const brokenGuardrail = ({ name }: Pick<GuardrailDefinition, 'name'>, fault: string): Guardrail => ({
  check() {
    throw new GuardrailMissing(`The guardrail '${name}' cannot run, so the call is refused: ${fault}.`);
  },
});
