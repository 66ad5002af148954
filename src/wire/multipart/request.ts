import type { Form } from '../../domain/inference/form.ts';
import { isGatewayField } from '../../domain/inference/gateway-fields.ts';
import { withParts } from './form.ts';

/**
 * A form for the upstream, in pieces to send in order. Sets the upstream's model name, even when the form has no model.
 * Removes the gateway fields and `metadata`, which is a gateway field in forms. Other parts keep their bytes.
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
