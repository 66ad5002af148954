import { GuardrailMissing } from '../../errors.ts';
import type { GuardrailDefinition } from '../definition.ts';
import type { Guardrail } from '../guardrail.ts';

/**
 * A guardrail that cannot run with its settings. It refuses the calls that it is selected for, because an unchecked
 * call would look checked.
 */
export const brokenGuardrail = ({ name }: Pick<GuardrailDefinition, 'name'>, fault: string): Guardrail => ({
  check() {
    throw new GuardrailMissing(`The guardrail '${name}' cannot run, so the call is refused: ${fault}.`);
  },
});
