import type { Deployment } from '../../domain/chat/provider.ts';
import { COMPATIBLE_VENDORS, type CompatibleVendor } from '../../domain/chat/vendors.ts';
import { openAiFrame } from '../../wire/chat-completions/native.ts';
import { upstreamRequest } from '../../wire/chat-completions/request.ts';
import type { Protocol } from '../http-provider.ts';
import { type Differences, differencesOf } from './vendors.ts';

/** A vendor who speaks as OpenAI does. A deployment that names an address is called there (`api_base`). */
export function compatibleProtocol(name: CompatibleVendor): Protocol {
  const differences = differencesOf(name);
  const frame = openAiFrame(differences);
  const { base } = COMPATIBLE_VENDORS[name];
  const { completions = true, modelName = (model: string) => model } = differences;
  return {
    name,
    dialectOf({ dialect }) {
      const isSpoken = dialect === null || dialect === 'chat-completions' || (dialect === 'completions' && completions);
      return isSpoken ? frame : null;
    },
    prepare: (deployment, request) => ({
      url: `${deployment.apiBase ?? base ?? ''}${request.endpoint.path}`,
      headers: headersOf(deployment, differences),
      body: upstreamRequest(request, modelName(deployment.upstreamModel), differences),
    }),
  };
}

function headersOf({ apiKey, options }: Deployment, { headers = {} }: Differences): Readonly<Record<string, string>> {
  const sent: Record<string, string> = { 'content-type': 'application/json' };
  if (apiKey) sent['authorization'] = `Bearer ${apiKey.reveal()}`;
  for (const [header, option] of Object.entries(headers)) {
    const value = options[option];
    if (value !== undefined) sent[header] = value;
  }
  return sent;
}

/** OpenAI itself, and whoever is not known by name but speaks alike (`api_base`). */
export const openAiCompatible: Protocol = compatibleProtocol('openai');
