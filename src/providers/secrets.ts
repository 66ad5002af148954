import type { Deployment } from '../domain/chat/provider.ts';
import type { Secret } from '../domain/secret.ts';
import { withoutSecretTexts } from '../domain/secret-texts.ts';

/** All secrets of a deployment: its API key and its other secrets. Empty ones are omitted. */
export function secretsOf({ apiKey, secrets }: Deployment): readonly string[] {
  const all: string[] = [];
  for (const secret of Object.values(secrets)) if (secret.reveal() !== '') all.push(secret.reveal());
  if (apiKey !== null && apiKey.reveal() !== '') all.push(apiKey.reveal());
  return all;
}

/** The text with all secrets of the deployment replaced by `<secret>`, also in the escaped forms of JSON. */
export const withoutSecrets = (deployment: Deployment, text: string): string =>
  withoutSecretTexts(text, secretsOf(deployment));

/** Whether a header contains a secret of the deployment. Allocates nothing, because it runs for every answer. */
export function containsSecret({ apiKey, secrets }: Deployment, headers: Readonly<Record<string, string>>): boolean {
  if (apiKey !== null && isInHeaders(apiKey, headers)) return true;
  for (const name in secrets) {
    const secret = secrets[name];
    if (secret !== undefined && isInHeaders(secret, headers)) return true;
  }
  return false;
}

function isInHeaders(secret: Secret, headers: Readonly<Record<string, string>>): boolean {
  const text = secret.reveal();
  if (text === '') return false;
  for (const name in headers) if (headers[name]?.includes(text) === true) return true;
  return false;
}
