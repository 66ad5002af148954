import type { Form } from '../../domain/inference/form.ts';
import { isGatewayField } from '../../domain/inference/gateway-fields.ts';
import { withParts } from './form.ts';

/**
 * A form as the upstream gets it, in pieces: its own model name, also where the form names none, and no gateway fields.
 * All other parts go on byte for byte. `metadata` is the gateway's, as nothing of a form is stored.
 */
export function upstreamForm(form: Form, upstreamModel: string): readonly Uint8Array[] {
  const added = form.parts.some(({ name }) => name === 'model') ? {} : { model: upstreamModel };
  return withParts(form, ({ name }) => changeOf(name, upstreamModel), added);
}

function changeOf(name: string, upstreamModel: string): string | null | undefined {
  if (name === 'model') return upstreamModel;
  const [member = ''] = name.split('[', 1);
  return isGatewayField(member) || member === 'metadata' ? null : undefined;
}
