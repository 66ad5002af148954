import type { Guardrails } from '../domain/guardrails/guardrails.ts';
import { createGuardrails } from '../runtime/guardrails/guardrails.ts';
import type { StartContext } from './context.ts';

/** The guardrails in force. */
export const composeGuardrails = ({ settings }: StartContext): Guardrails =>
  createGuardrails({ configured: settings.guardrails.definitions, readParams: settings.guardrails.readParams });
