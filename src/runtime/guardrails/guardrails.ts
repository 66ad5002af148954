import type { GuardrailDefinition } from '../../domain/guardrails/definition.ts';
import type { Guardrails, ParamReader } from '../../domain/guardrails/guardrails.ts';

interface GuardrailOptions {
  /** Guardrails of the configuration file. */
  readonly configured: readonly GuardrailDefinition[];
  readonly readParams: ParamReader;
}

/** Guardrails in memory. */
export function createGuardrails({ configured: ofStart, readParams }: GuardrailOptions): Guardrails {
  let configured = ofStart;
  let definitions: readonly GuardrailDefinition[] = [];

  function compile(): void {
    definitions = configured.map((one) => ({ ...one, params: readParams(one.params) }));
  }

  compile();
  return {
    definitions: () => definitions,
    list: () => configured,
    configure(next) {
      configured = next;
      compile();
    },
  };
}
