import type { Deployment } from '../domain/chat/provider.ts';

/** All secrets of a deployment: its API key and its other secrets. Empty ones are omitted. */
export function secretsOf({ apiKey, secrets }: Deployment): readonly string[] {
  const all: string[] = [];
  for (const secret of Object.values(secrets)) if (secret.reveal() !== '') all.push(secret.reveal());
  if (apiKey !== null && apiKey.reveal() !== '') all.push(apiKey.reveal());
  return all;
}

/** The text with all secrets of the deployment replaced by `<secret>`. */
export function withoutSecrets(deployment: Deployment, text: string): string {
  return secretsOf(deployment).reduce((redacted, secret) => redacted.replaceAll(secret, '<secret>'), text);
}

/** Whether one of the texts contains a secret of the deployment. Without closures, because it runs for every answer. */
export function containsSecret(deployment: Deployment, texts: readonly string[]): boolean {
  for (const secret of secretsOf(deployment)) for (const text of texts) if (text.includes(secret)) return true;
  return false;
}
